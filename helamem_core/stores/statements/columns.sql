-- What readers cache of a space; `version` is that of the cache, -1 for an empty one.

-- name: episodes
-- Memories that have changed since.
-- parameters: space, version
-- columns: number, id, at, expires_at, length, previous, speaker_terms, asks, archived, vector
SELECT e.number, e.id, e.at, e.expires_at, e.length, e.previous, e.speaker_terms, e.asks,
       e.archived_at IS NOT NULL AS archived, v.vector
FROM episodes AS e LEFT JOIN vectors AS v ON v.number = e.number
WHERE e.space = :space AND e.version > :version

-- name: cues
-- Cues that have changed since.
-- parameters: space, version
-- columns: number, id, vector
SELECT c.number, c.id, v.vector
FROM cues AS c LEFT JOIN vectors AS v ON v.number = c.number
WHERE c.space = :space AND c.version > :version

-- name: erased
-- Numbers of memories and cues erased since.
-- parameters: space, version
-- columns: number
SELECT number FROM erased WHERE space = :space AND version > :version

-- name: filterable
-- What filters read, beyond what is cached already.
-- parameters: space, numbers (JSON list)
-- columns: number, role, speaker, session, metadata
SELECT e.number, e.role, e.speaker, e.session, e.metadata
FROM json_each(:numbers) AS asked CROSS JOIN episodes AS e ON e.number = asked.value
WHERE e.space = :space

-- name: keywords
-- Keywords of memories.
-- parameters: space, numbers (JSON list)
-- columns: number, keywords
SELECT e.number, e.keywords
FROM json_each(:numbers) AS asked CROSS JOIN episodes AS e ON e.number = asked.value
WHERE e.space = :space
