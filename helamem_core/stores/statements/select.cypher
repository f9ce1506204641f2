// Memories of a view in order.

// name: page
// The names of orders are those of `Listing`; equal ones go by id.
// parameters: space, archived, now, since, until, filter, order, limit, offset
// columns: node
MATCH (s:Space {name: $space})
WHERE s.loading IS NULL
MATCH (e:Episode {space: $space})
WHERE e.number IS NOT NULL AND (e.archived_at IS NOT NULL) = $archived
  AND (e.expires_at IS NULL OR e.expires_at > $now)
  AND e.at >= $since AND e.at <= $until
  AND
  // include: formula.matches
WITH e ORDER BY
  CASE $order
    WHEN 'at' THEN e.at WHEN '-at' THEN -e.at
    WHEN 'recorded_at' THEN e.recorded_at WHEN '-recorded_at' THEN -e.recorded_at
  END,
  CASE WHEN $order = '-id' THEN e.id END DESC,
  e.id
SKIP $offset LIMIT $limit
RETURN
// include: nodes.whole
AS node
