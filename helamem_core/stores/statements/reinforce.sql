-- One Hebbian event.
-- `NOT INDEXED` and `INDEXED BY`: without statistics SQLite may walk a whole space instead.

-- name: forget_events
-- Event ids older than their retention.
-- parameters: space, horizon
DELETE FROM events WHERE space = :space AND at < :horizon

-- name: event
-- Note an event; changes no row if it was noted before.
-- parameters: space, id, now
INSERT INTO events (space, id, at) VALUES (:space, :id, :now) ON CONFLICT DO NOTHING

-- name: cue
-- A cue by its id.
-- parameters: space, id
-- columns: number, id, text, embedded, fires
SELECT number, id, text, embedded, fires FROM cues WHERE space = :space AND id = :id

-- name: cue_by_number
-- A cue by its number.
-- parameters: space, number
-- columns: number, id, text, embedded, fires
SELECT number, id, text, embedded, fires FROM cues WHERE space = :space AND number = :number

-- name: new_cue
-- A cue that is no turn; its version is the space's.
-- parameters: number, space, id, text, embedded, now
INSERT INTO cues (number, space, id, text, embedded, fires, last_at, version)
VALUES (:number, :space, :id, :text, :embedded, 0, :now, (SELECT version FROM spaces WHERE space = :space))

-- name: count_cues
-- How many cues the space has.
-- parameters: space
-- columns: cues
SELECT count(*) AS cues FROM cues WHERE space = :space

-- name: oldest_cue
-- The longest unused cue but this one.
-- parameters: space, number
-- columns: number
SELECT number FROM cues WHERE space = :space AND number <> :number ORDER BY last_at, id LIMIT 1

-- name: renew_cue
-- The same cue was given again: its text, and its vector if it had none.
-- parameters: space, number, text, embedded
UPDATE cues SET text = :text, embedded = :embedded, version = (SELECT version FROM spaces WHERE space = :space)
WHERE number = :number

-- name: fire_cue
-- A cue fired.
-- parameters: number, now
UPDATE cues SET fires = fires + 1, last_at = :now WHERE number = :number

-- name: fire_turn
-- A turn fired as cue, without being used.
-- parameters: number
UPDATE episodes SET fires = fires + 1 WHERE number = :number

-- name: asks
-- A turn has led to memories for the first time; its version is the space's.
-- parameters: space, number
UPDATE episodes SET asks = 1, version = (SELECT version FROM spaces WHERE space = :space) WHERE number = :number

-- name: is_asking
-- Whether a turn has led to memories before.
-- parameters: number
-- columns: asks
SELECT asks FROM episodes WHERE number = :number

-- name: use
-- Memories fired and were used.
-- parameters: space, numbers (JSON list), now
UPDATE episodes NOT INDEXED SET fires = fires + 1, uses = uses + 1, last_used_at = :now
WHERE space = :space AND number IN (SELECT value FROM json_each(:numbers))

-- name: step
-- One more reinforcement.
-- parameters: space
UPDATE spaces SET steps = steps + 1 WHERE space = :space

-- name: held
-- The links that are there already between these memories, and from the cue to them.
-- parameters: space, numbers (JSON list), cue
-- columns: kind, source, target, weight, step, source_fires, target_fires, count, since
SELECT kind, source, target, weight, step, source_fires, target_fires, count, since
FROM json_each(:numbers) AS asked
CROSS JOIN links ON space = :space AND source = asked.value AND kind = 'ASSOCIATED'
WHERE target IN (SELECT value FROM json_each(:numbers))
UNION ALL
SELECT kind, source, target, weight, step, source_fires, target_fires, count, since
FROM links
WHERE space = :space AND source = :cue AND kind = 'CUED' AND target IN (SELECT value FROM json_each(:numbers))

-- name: crowded
-- Which of these nodes have more than so many links of a kind; `role` is the end at which they are.
-- parameters: space, numbers (JSON list), most
-- columns: number, role
SELECT asked.value AS number, 'ASSOCIATED' AS role
FROM json_each(:numbers) AS asked
WHERE (SELECT count(*) FROM links WHERE space = :space AND source = asked.value AND kind = 'ASSOCIATED')
    + (SELECT count(*) FROM links WHERE space = :space AND target = asked.value AND kind = 'ASSOCIATED') > :most
UNION ALL
SELECT asked.value, 'CUED'
FROM json_each(:numbers) AS asked
WHERE (SELECT count(*) FROM links WHERE space = :space AND source = asked.value AND kind = 'CUED') > :most
UNION ALL
SELECT asked.value, 'ARRIVING'
FROM json_each(:numbers) AS asked
WHERE (SELECT count(*) FROM links WHERE space = :space AND target = asked.value AND kind = 'CUED') > :most

-- name: crowd
-- The links of one kind at one node, from either end.
-- parameters: space, number, kind
-- columns: source, target, other, kind, weight, step, source_fires, target_fires, source_now, target_now
SELECT l.source, l.target,
       CASE WHEN l.source = :number THEN t.id ELSE coalesce(s.id, c.id) END AS other,
       l.kind, l.weight, l.step, l.source_fires, l.target_fires,
       coalesce(s.fires, c.fires) AS source_now, t.fires AS target_now
FROM (
    SELECT * FROM links WHERE space = :space AND source = :number AND kind = :kind
    UNION ALL
    SELECT * FROM links INDEXED BY links_target WHERE space = :space AND target = :number AND kind = :kind
) AS l
JOIN episodes AS t ON t.number = l.target
LEFT JOIN episodes AS s ON s.number = l.source
LEFT JOIN cues AS c ON c.number = l.source

-- name: cut
-- One link.
-- parameters: space, kind, source, target
DELETE FROM links WHERE space = ? AND kind = ? AND source = ? AND target = ?
