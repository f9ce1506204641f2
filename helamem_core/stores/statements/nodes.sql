-- Memories by id and by number.

-- name: by_ids
-- Which of these ids are there.
-- parameters: space, ids (JSON list)
-- columns: id, number, expires_at, archived_at, fires
SELECT e.id, e.number, e.expires_at, e.archived_at, e.fires
FROM json_each(:ids) AS asked
CROSS JOIN episodes AS e ON e.space = :space AND e.id = asked.value

-- name: fetch
-- Whole memories, in the order asked.
-- parameters: space, numbers (JSON list)
-- columns: number, id, text, role, speaker, session, at, recorded_at, expires_at, metadata, keywords, terms, speaker_terms, vector, previous, archived_at, fires, uses, last_used_at
SELECT e.number, e.id, e.text, e.role, e.speaker, e.session, e.at, e.recorded_at, e.expires_at, e.metadata,
       e.keywords, e.terms, e.speaker_terms, v.vector, p.id AS previous, e.archived_at, e.fires, e.uses, e.last_used_at
FROM json_each(:numbers) AS asked
CROSS JOIN episodes AS e ON e.number = asked.value
LEFT JOIN vectors AS v ON v.number = e.number
LEFT JOIN episodes AS p ON p.number = e.previous
WHERE e.space = :space
ORDER BY asked.key

-- name: all_numbers
-- Every memory of the space in the order remembered.
-- parameters: space
-- columns: number
SELECT number FROM episodes WHERE space = :space ORDER BY number

-- name: glimpse
-- What readers see of active memories, in the order asked.
-- parameters: space, numbers (JSON list)
-- columns: id, text, role, speaker, session, at, recorded_at, expires_at, metadata, keywords, previous, fires, uses, last_used_at
SELECT e.id, e.text, e.role, e.speaker, e.session, e.at, e.recorded_at, e.expires_at, e.metadata, e.keywords,
       p.id AS previous, e.fires, e.uses, e.last_used_at
FROM json_each(:numbers) AS asked
CROSS JOIN episodes AS e ON e.number = asked.value
LEFT JOIN episodes AS p ON p.number = e.previous
WHERE e.space = :space
ORDER BY asked.key
