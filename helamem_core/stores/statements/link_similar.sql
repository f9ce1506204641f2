-- Similarity links of near neighbours.

-- name: held
-- Those there are.
-- parameters: space
-- columns: source, target, since
SELECT source, target, since FROM links WHERE space = :space AND kind = 'SIMILAR'

-- name: clear
-- All of them go.
-- parameters: space
DELETE FROM links WHERE space = :space AND kind = 'SIMILAR'

-- name: changed
-- Memories that were changed, archived or erased since a version of the space.
-- parameters: space, version
-- columns: number
SELECT number FROM episodes WHERE space = :space AND version > :version
UNION ALL
SELECT number FROM erased WHERE space = :space AND version > :version
