-- Memories of a view in order.

-- name: numbers
-- Their numbers and what filters read; the names of orders are those of `Listing`.
-- parameters: space, archived, now, since, until, order, limit, offset
-- columns: number, id, at, role, speaker, session, metadata
SELECT number, id, at, role, speaker, session, metadata
FROM episodes
WHERE space = :space
    AND (archived_at IS NOT NULL) = :archived
    AND (expires_at IS NULL OR expires_at > :now)
    AND (:since IS NULL OR at >= :since)
    AND (:until IS NULL OR at <= :until)
ORDER BY
    CASE :order
        WHEN 'at' THEN at WHEN '-at' THEN -at
        WHEN 'recorded_at' THEN recorded_at WHEN '-recorded_at' THEN -recorded_at
    END,
    CASE WHEN :order = '-id' THEN id END DESC,
    id
LIMIT :limit OFFSET :offset
