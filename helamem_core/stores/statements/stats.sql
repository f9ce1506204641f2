-- Counts of a space.

-- name: episodes
-- Memories that have not expired; NEXT links and texts without a vector whether or not.
-- parameters: space, now
-- columns: memories, archived, sessions, following, pending
SELECT coalesce(sum(lives AND archived_at IS NULL), 0) AS memories,
       coalesce(sum(lives AND archived_at IS NOT NULL), 0) AS archived,
       count(DISTINCT CASE WHEN lives THEN session END) AS sessions,
       count(previous) AS following,
       coalesce(sum(embedded = 0), 0) AS pending
FROM (SELECT *, expires_at IS NULL OR expires_at > :now AS lives FROM episodes WHERE space = :space)

-- name: cues
-- Cues, and those that wait for a vector.
-- parameters: space
-- columns: cues, pending
SELECT count(*) AS cues, coalesce(sum(embedded = 0 AND text IS NOT NULL), 0) AS pending FROM cues WHERE space = :space

-- name: terms
-- Distinct words of active memories that have not expired.
-- parameters: space, now
-- columns: terms
SELECT count(DISTINCT term) AS terms FROM postings
WHERE space = :space AND episode NOT IN (
    SELECT number FROM episodes WHERE space = :space AND expires_at IS NOT NULL AND expires_at <= :now
)
