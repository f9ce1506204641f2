-- Erase a space with everything in it. Every block is run, in this order, but for the two counts.

-- name: ids
-- Its memories.
-- parameters: space
-- columns: id
SELECT id FROM episodes WHERE space = :space ORDER BY number

-- name: counts
-- Its links and cues.
-- parameters: space
-- columns: links, cues
SELECT (SELECT count(*) FROM links WHERE space = :space) AS links,
       (SELECT count(*) FROM cues WHERE space = :space) AS cues

-- name: delete_vectors
-- parameters: space
DELETE FROM vectors WHERE number IN (SELECT number FROM episodes WHERE space = :space)

-- name: delete_cue_vectors
-- parameters: space
DELETE FROM vectors WHERE number IN (SELECT number FROM cues WHERE space = :space)

-- name: delete_staged
-- parameters: space
DELETE FROM staged WHERE space = :space

-- name: delete_postings
-- parameters: space
DELETE FROM postings WHERE space = :space

-- name: delete_links
-- parameters: space
DELETE FROM links WHERE space = :space

-- name: delete_events
-- parameters: space
DELETE FROM events WHERE space = :space

-- name: delete_erased
-- parameters: space
DELETE FROM erased WHERE space = :space

-- name: delete_relinked
-- parameters: space
DELETE FROM relinked WHERE space = :space

-- name: delete_cues
-- parameters: space
DELETE FROM cues WHERE space = :space

-- name: delete_episodes
-- parameters: space
DELETE FROM episodes WHERE space = :space
