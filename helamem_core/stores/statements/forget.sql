-- Erase memories, cues and spaces.
-- `NOT INDEXED` and `INDEXED BY`: without statistics SQLite may walk a whole space instead.

-- name: sources
-- The cues that led to these memories.
-- parameters: space, numbers (JSON list)
-- columns: number
SELECT DISTINCT l.source AS number
FROM json_each(:numbers) AS asked
CROSS JOIN links AS l ON l.space = :space AND l.target = asked.value AND l.kind = 'CUED'
CROSS JOIN cues AS c ON c.number = l.source

-- name: bridge
-- The turn after an erased one follows the turn before it; its version is the space's.
-- parameters: number, space
UPDATE episodes SET
    previous = (SELECT gone.previous FROM episodes AS gone WHERE gone.number = :number),
    version = (SELECT version FROM spaces WHERE space = :space)
WHERE previous = :number

-- name: links_from
-- The links that start at these nodes.
-- parameters: space, numbers (JSON list)
DELETE FROM links WHERE space = :space AND source IN (SELECT value FROM json_each(:numbers))

-- name: links_to
-- The links that end at these nodes.
-- parameters: space, numbers (JSON list)
DELETE FROM links WHERE space = :space AND target IN (SELECT value FROM json_each(:numbers))

-- name: postings
-- The words of one memory.
-- parameters: number, space
DELETE FROM postings
WHERE space = :space AND episode = :number
    AND term IN (SELECT key FROM json_each((SELECT terms FROM episodes WHERE number = :number)))

-- name: vectors
-- The vectors of these nodes.
-- parameters: numbers (JSON list)
DELETE FROM vectors WHERE number IN (SELECT value FROM json_each(:numbers))

-- name: staged
-- The staged vectors of these nodes.
-- parameters: numbers (JSON list)
DELETE FROM staged WHERE number IN (SELECT value FROM json_each(:numbers))

-- name: episodes
-- The memories themselves.
-- parameters: space, numbers (JSON list)
DELETE FROM episodes NOT INDEXED WHERE space = :space AND number IN (SELECT value FROM json_each(:numbers))

-- name: cues
-- The cues themselves.
-- parameters: space, numbers (JSON list)
DELETE FROM cues NOT INDEXED WHERE space = :space AND number IN (SELECT value FROM json_each(:numbers))

-- name: silence
-- Cues that led to an erased memory lose their text.
-- parameters: space, numbers (JSON list)
UPDATE cues NOT INDEXED SET text = NULL WHERE space = :space AND number IN (SELECT value FROM json_each(:numbers))

-- name: named_cues
-- Which of these ids are cues.
-- parameters: space, ids (JSON list)
-- columns: number, id
SELECT DISTINCT c.number, c.id FROM json_each(:ids) AS asked CROSS JOIN cues AS c ON c.space = :space AND c.id = asked.value

-- name: orphans
-- Those of these cues that lead nowhere.
-- parameters: space, numbers (JSON list)
-- columns: number
SELECT value AS number FROM json_each(:numbers)
WHERE NOT EXISTS (SELECT 1 FROM links WHERE space = :space AND source = value)

-- name: note
-- Tell other processes' caches what is gone.
-- parameters: space, numbers (JSON list)
INSERT INTO erased (space, version, number)
SELECT :space, (SELECT version FROM spaces WHERE space = :space), value FROM json_each(:numbers)

-- name: count_notes
-- How many such notes there are.
-- parameters: space
-- columns: notes
SELECT count(*) AS notes FROM erased WHERE space = :space

-- name: drop_notes
-- All such notes of the space.
-- parameters: space
DELETE FROM erased WHERE space = :space
