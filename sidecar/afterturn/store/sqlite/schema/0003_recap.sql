-- 0003_recap: its tables are on their way.
SELECT 1;
