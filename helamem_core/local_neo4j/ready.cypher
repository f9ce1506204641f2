// A query that any server answers which is ready for work.
RETURN 1 AS ready
