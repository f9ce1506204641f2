-- Vectors that come later, and those of another model.

-- name: pending_episodes
-- Memories without a vector, the oldest first.
-- parameters: space, limit, offset
-- columns: id, text
SELECT id, text FROM episodes WHERE space = :space AND embedded = 0 ORDER BY number LIMIT :limit OFFSET :offset

-- name: pending_cues
-- Cues without a vector that still have a text, the oldest first.
-- parameters: space, limit, offset
-- columns: id, text
SELECT id, text FROM cues WHERE space = :space AND embedded = 0 AND text IS NOT NULL ORDER BY number LIMIT :limit OFFSET :offset

-- name: count_pending
-- How many memories have no vector.
-- parameters: space
-- columns: waiting
SELECT count(*) AS waiting FROM episodes WHERE space = :space AND embedded = 0

-- name: episode
-- A memory by id.
-- parameters: space, id
-- columns: number, text, embedded
SELECT number, text, embedded FROM episodes WHERE space = :space AND id = :id

-- name: cue
-- A cue by id.
-- parameters: space, id
-- columns: number, text, embedded
SELECT number, text, embedded FROM cues WHERE space = :space AND id = :id

-- name: episode_embedded
-- A memory has its vector now; its version is the space's.
-- parameters: space, number
UPDATE episodes SET embedded = 1, version = (SELECT version FROM spaces WHERE space = :space) WHERE number = :number

-- name: cue_embedded
-- A cue has its vector now; its version is the space's.
-- parameters: space, number
UPDATE cues SET embedded = 1, version = (SELECT version FROM spaces WHERE space = :space) WHERE number = :number

-- name: stage
-- A vector of another model.
-- parameters: number, space, model, dimension, normalised, vector
INSERT OR REPLACE INTO staged (number, space, model, dimension, normalised, vector) VALUES (?, ?, ?, ?, ?, ?)

-- name: unstaged_episodes
-- Memories without a staged vector of the model, the oldest first.
-- parameters: space, model, dimension, normalised, limit, offset
-- columns: id, text
SELECT e.id, e.text
FROM episodes AS e LEFT JOIN staged AS s
    ON s.number = e.number AND s.model = :model AND s.dimension = :dimension AND s.normalised = :normalised
WHERE e.space = :space AND s.number IS NULL
ORDER BY e.number LIMIT :limit OFFSET :offset

-- name: count_unstaged
-- How many memories have no staged vector of the model.
-- parameters: space, model, dimension, normalised
-- columns: waiting
SELECT count(*) AS waiting
FROM episodes AS e LEFT JOIN staged AS s
    ON s.number = e.number AND s.model = :model AND s.dimension = :dimension AND s.normalised = :normalised
WHERE e.space = :space AND s.number IS NULL

-- name: unstaged_cues
-- Cues with a text without a staged vector of the model, the oldest first.
-- parameters: space, model, dimension, normalised, limit, offset
-- columns: id, text
SELECT c.id, c.text
FROM cues AS c LEFT JOIN staged AS s
    ON s.number = c.number AND s.model = :model AND s.dimension = :dimension AND s.normalised = :normalised
WHERE c.space = :space AND c.text IS NOT NULL AND s.number IS NULL
ORDER BY c.number LIMIT :limit OFFSET :offset

-- name: drop_staged_others
-- Staged vectors of any model but this one.
-- parameters: space, model, dimension, normalised
DELETE FROM staged
WHERE space = :space AND NOT (model = :model AND dimension = :dimension AND normalised = :normalised)

-- name: textless_cues
-- Cues that cannot be embedded again.
-- parameters: space
-- columns: number
SELECT number FROM cues WHERE space = :space AND text IS NULL

-- name: count_staged
-- How many vectors are staged.
-- parameters: space
-- columns: staged
SELECT count(*) AS staged FROM staged WHERE space = :space

-- name: adopt
-- The staged vectors become the vectors.
-- parameters: space
INSERT INTO vectors (number, vector) SELECT number, vector FROM staged WHERE space = :space

-- name: mark_episodes
-- Which memories have a vector.
-- parameters: space
UPDATE episodes SET embedded = number IN (SELECT number FROM staged WHERE space = :space) WHERE space = :space

-- name: mark_cues
-- Which cues have a vector.
-- parameters: space
UPDATE cues SET embedded = number IN (SELECT number FROM staged WHERE space = :space) WHERE space = :space

-- name: drop_episode_vectors
-- The memories' vectors of the model before.
-- parameters: space
DELETE FROM vectors WHERE number IN (SELECT number FROM episodes WHERE space = :space)

-- name: drop_cue_vectors
-- The cues' vectors of the model before.
-- parameters: space
DELETE FROM vectors WHERE number IN (SELECT number FROM cues WHERE space = :space)

-- name: unstage
-- Nothing is staged any more.
-- parameters: space
DELETE FROM staged WHERE space = :space
