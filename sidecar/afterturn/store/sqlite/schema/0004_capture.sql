-- 0004_capture: its tables are on their way.
SELECT 1;
