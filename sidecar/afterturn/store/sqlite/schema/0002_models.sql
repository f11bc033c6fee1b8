-- 0002_models: its tables are on their way.
SELECT 1;
