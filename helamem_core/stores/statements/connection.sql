-- What belongs to a connection or to the file, not to a verb.

-- name: secure
-- Overwrite deleted content with zeros.
PRAGMA secure_delete = ON

-- name: memory_temp
-- Keep temporary tables in memory.
PRAGMA temp_store = MEMORY

-- name: page_size
-- Of a new file: rows of a memory's size pack better than into the default 4096.
PRAGMA page_size = 8192

-- name: wal
-- Readers and one writer work side by side.
-- columns: journal_mode
PRAGMA journal_mode = WAL

-- name: wal_limit
-- Cut the log back to 64 MiB after a large write.
PRAGMA journal_size_limit = 67108864

-- name: synchronous_full
-- A commit outlives a power failure.
PRAGMA synchronous = FULL

-- name: synchronous_normal
-- A commit outlives the process, not always a power failure; the file stays sound.
PRAGMA synchronous = NORMAL

-- name: synchronous_extra
-- A commit outlives a power failure, on more file systems.
PRAGMA synchronous = EXTRA

-- name: application
-- Whose file it is.
-- columns: application_id
PRAGMA application_id

-- name: version
-- Of the schema.
-- columns: user_version
PRAGMA user_version

-- name: tables
-- How many tables the file has.
-- columns: tables
SELECT count(*) AS tables FROM sqlite_schema

-- name: rewrite
-- Write the file anew without what was deleted.
VACUUM

-- name: files
-- The files of a connection's databases.
-- columns: seq, name, file
PRAGMA database_list

-- name: copy
-- Write a copy without what was deleted.
-- parameters: path
VACUUM INTO :path

-- name: checkpoint
-- Bring the log into the file and empty it.
-- columns: busy, log, checkpointed
PRAGMA wal_checkpoint(TRUNCATE)

-- name: integrity
-- "ok", or what is damaged.
-- columns: integrity_check
PRAGMA integrity_check(20)
