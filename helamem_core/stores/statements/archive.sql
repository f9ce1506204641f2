-- Take memories out of the active graph and bring them back; a changed row's version is the space's.
-- `NOT INDEXED` and `INDEXED BY`: without statistics SQLite may walk a whole space instead.

-- name: archive
-- Memories leave; the time is NULL for those that come back.
-- parameters: space, numbers (JSON list), now
UPDATE episodes NOT INDEXED SET archived_at = :now, version = (SELECT version FROM spaces WHERE space = :space)
WHERE space = :space AND number IN (SELECT value FROM json_each(:numbers))

-- name: index_again
-- The words of memories that come back.
-- parameters: space, numbers (JSON list)
INSERT INTO postings (space, term, episode, tf)
SELECT :space, word.key, e.number, word.value
FROM json_each(:numbers) AS asked
CROSS JOIN episodes AS e ON e.number = asked.value
CROSS JOIN json_each(e.terms) AS word
