-- Export and import.

-- name: cues
-- Cues in the order they came.
-- parameters: space
-- columns: number, id, text, vector, fires, last_at
SELECT c.number, c.id, c.text, v.vector, c.fires, c.last_at
FROM cues AS c LEFT JOIN vectors AS v ON v.number = c.number WHERE c.space = :space ORDER BY c.number

-- name: links
-- Links by the ids of their ends.
-- parameters: space
-- columns: kind, source, target, weight, step, source_fires, target_fires, count, since, last_at
SELECT l.kind, coalesce(s.id, c.id) AS source, t.id AS target, l.weight, l.step, l.source_fires, l.target_fires,
       l.count, l.since, l.last_at
FROM links AS l
JOIN episodes AS t ON t.number = l.target
LEFT JOIN episodes AS s ON s.number = l.source
LEFT JOIN cues AS c ON c.number = l.source
WHERE l.space = :space
ORDER BY l.kind, source, target

-- name: events
-- Events, the oldest first.
-- parameters: space
-- columns: id, at
SELECT id, at FROM events WHERE space = :space ORDER BY at, id

-- name: holds_memories
-- Whether the space holds any.
-- parameters: space
-- columns: number
SELECT number FROM episodes WHERE space = :space LIMIT 1

-- name: cue
-- A cue as exported.
-- parameters: in the order of the columns
INSERT INTO cues (number, space, id, text, embedded, fires, last_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?)

-- name: event
-- An event as exported.
-- parameters: space, id, at
INSERT INTO events (space, id, at) VALUES (?, ?, ?)

-- name: previous
-- The turn before, where it came later in the export.
-- parameters: previous, number
UPDATE episodes SET previous = ? WHERE number = ?

-- name: asking
-- Memories that led to others.
-- parameters: space
UPDATE episodes SET asks = 1
WHERE space = :space AND number IN (SELECT source FROM links WHERE space = :space AND kind = 'CUED')
