-- Erase expired memories, archive weak ones, remove dead links and idle cues.

-- name: expired
-- Memories past their end.
-- parameters: space, now
-- columns: number, id
SELECT number, id FROM episodes WHERE space = :space AND expires_at IS NOT NULL AND expires_at <= :now ORDER BY number

-- name: links
-- Every link with the clocks of its ends.
-- parameters: space
-- columns: source, target, kind, weight, step, source_fires, target_fires, source_now, target_now
SELECT l.source, l.target, l.kind, l.weight, l.step, l.source_fires, l.target_fires,
       coalesce(s.fires, c.fires) AS source_now, t.fires AS target_now
FROM links AS l
JOIN episodes AS t ON t.number = l.target
LEFT JOIN episodes AS s ON s.number = l.source
LEFT JOIN cues AS c ON c.number = l.source
WHERE l.space = :space

-- name: idle_cues
-- Cues that no link leads from.
-- parameters: space
-- columns: number
SELECT c.number FROM cues AS c
WHERE c.space = :space AND NOT EXISTS (SELECT 1 FROM links AS l WHERE l.space = :space AND l.source = c.number)

-- name: write_back
-- A link's weight as it stands, with the clocks as they stand.
-- parameters: in the order of the text
UPDATE links SET weight = ?, step = ?, source_fires = ?, target_fires = ?
WHERE space = ? AND source = ? AND kind = ? AND target = ?

-- name: unused
-- Active memories that were never used.
-- parameters: space
-- columns: number, id, uses, recorded_at
SELECT number, id, uses, recorded_at FROM episodes WHERE space = :space AND archived_at IS NULL AND uses = 0
