-- What readers keep of memory-memory links, and who changed them.
-- `INDEXED BY`: without statistics SQLite may walk a whole space instead.

-- name: count
-- Links or clocks are about to change.
-- parameters: space
UPDATE spaces SET links = links + 1 WHERE space = :space

-- name: note
-- At these nodes.
-- parameters: space, numbers (JSON list)
INSERT INTO relinked (space, version, number)
SELECT DISTINCT :space, (SELECT links FROM spaces WHERE space = :space), value FROM json_each(:numbers)

-- name: drop_old
-- Notes that no cache needs, since one so old is read anew.
-- parameters: space, kept
DELETE FROM relinked WHERE space = :space AND version <= (SELECT links FROM spaces WHERE space = :space) - :kept

-- name: start_anew
-- At nodes that are too many to name.
-- parameters: space
UPDATE spaces SET links_horizon = links WHERE space = :space

-- name: changed
-- The nodes where links or clocks have changed since a version.
-- parameters: space, version
-- columns: number
SELECT DISTINCT number FROM relinked WHERE space = :space AND version > :version

-- name: clocks
-- How often these memories fired.
-- parameters: numbers (JSON list)
-- columns: number, fires
SELECT e.number, e.fires FROM json_each(:numbers) AS asked CROSS JOIN episodes AS e ON e.number = asked.value

-- name: of_memories
-- The memory-memory links of these memories, once from each end asked for.
-- parameters: space, numbers (JSON list)
-- columns: number, other, similar, weight, step, fires
SELECT l.source AS number, l.target AS other, l.kind = 'SIMILAR' AS similar, l.weight, l.step,
       l.source_fires + l.target_fires AS fires
FROM json_each(:numbers) AS asked
CROSS JOIN links AS l ON l.space = :space AND l.source = asked.value AND l.kind IN ('ASSOCIATED', 'SIMILAR')
UNION ALL
SELECT l.target, l.source, l.kind = 'SIMILAR', l.weight, l.step, l.source_fires + l.target_fires
FROM json_each(:numbers) AS asked
CROSS JOIN links AS l INDEXED BY links_target ON l.space = :space AND l.target = asked.value AND l.kind IN ('ASSOCIATED', 'SIMILAR')
