-- What a memory or cue is linked to.
-- `NOT INDEXED` and `INDEXED BY`: without statistics SQLite may walk a whole space instead.

-- name: links
-- Its links from either end, with the other end.
-- parameters: space, number
-- columns: other, text, expires_at, outgoing, kind, weight, step, source_fires, target_fires, source_now, target_now, count, since, last_at
SELECT CASE WHEN l.source = :number THEN t.id ELSE coalesce(s.id, c.id) END AS other,
       CASE WHEN l.source = :number THEN t.text ELSE coalesce(s.text, c.text) END AS text,
       CASE WHEN l.source = :number THEN t.expires_at ELSE s.expires_at END AS expires_at,
       l.source = :number OR l.kind <> 'CUED' AS outgoing,
       l.kind, l.weight, l.step, l.source_fires, l.target_fires,
       coalesce(s.fires, c.fires) AS source_now, t.fires AS target_now, l.count, l.since, l.last_at
FROM (
    SELECT * FROM links WHERE space = :space AND source = :number
    UNION ALL
    SELECT * FROM links INDEXED BY links_target WHERE space = :space AND target = :number
) AS l
JOIN episodes AS t ON t.number = l.target
LEFT JOIN episodes AS s ON s.number = l.source
LEFT JOIN cues AS c ON c.number = l.source

-- name: sequence
-- The turns before and after it; `since` is when the later of the two was remembered.
-- parameters: number
-- columns: other, text, expires_at, outgoing, since
SELECT before.id AS other, before.text, before.expires_at, 0 AS outgoing, e.recorded_at AS since
FROM episodes AS e JOIN episodes AS before ON before.number = e.previous WHERE e.number = :number
UNION ALL
SELECT later.id, later.text, later.expires_at, 1, later.recorded_at FROM episodes AS later WHERE later.previous = :number
