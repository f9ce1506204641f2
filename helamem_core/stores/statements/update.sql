-- Change a memory's content; a changed row's version is the space's.

-- name: text
-- Another text.
-- parameters: space, number, text, terms, keywords, length, embedded
UPDATE episodes SET
    text = :text, terms = :terms, keywords = :keywords, length = :length, embedded = :embedded,
    version = (SELECT version FROM spaces WHERE space = :space)
WHERE number = :number

-- name: metadata
-- Other metadata.
-- parameters: space, number, metadata
UPDATE episodes SET metadata = :metadata, version = (SELECT version FROM spaces WHERE space = :space)
WHERE number = :number

-- name: expires_at
-- Another end.
-- parameters: space, number, expires_at
UPDATE episodes SET expires_at = :expires_at, version = (SELECT version FROM spaces WHERE space = :space)
WHERE number = :number

-- name: similar_from
-- The similarity links that start at a memory; they belonged to its old vector.
-- parameters: space, number
DELETE FROM links WHERE space = :space AND source = :number AND kind = 'SIMILAR'

-- name: similar_to
-- Those that end at it.
-- parameters: space, number
DELETE FROM links WHERE space = :space AND target = :number AND kind = 'SIMILAR'
