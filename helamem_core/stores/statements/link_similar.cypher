// Similarity links of near neighbours. Those that are there are doomed first; those that are made again are spared.

// name: doom
// Those from the memories of a page.
// parameters: space, after, until
MATCH (e:Episode {space: $space})-[r:SIMILAR]->()
WHERE e.number > $after AND e.number <= $until
SET r.doomed = true

// name: link
// What the memories of a page propose, each to its nearest among those that the index nominates: `linking.proposals`.
// parameters: space, now, after, until, near, exact_up_to, everything, neighbours, threshold, scale, digits
// columns: made (links that were not there)
MATCH (s:Space {name: $space})
MATCH (e:Episode {space: $space})
WHERE e.number > $after AND e.number <= $until AND e.embedding IS NOT NULL
  AND e.archived_at IS NULL AND (e.expires_at IS NULL OR e.expires_at > $now)
WITH s, e, e.embedding AS vector
// include: lookup.nearest
CALL (e, vector, around) {
  UNWIND around AS other
  WITH e, vector, other
  WHERE other <> e AND other.embedding IS NOT NULL
    AND other.archived_at IS NULL AND (other.expires_at IS NULL OR other.expires_at > $now)
  WITH other, 2 * vector.similarity.cosine(other.embedding, vector) - 1 AS cosine
  WHERE cosine > $threshold
  ORDER BY round(cosine, $digits, 'HALF_EVEN') DESC, other.id
  LIMIT $neighbours
  RETURN other, cosine
}
WITH CASE WHEN e.id < other.id THEN e ELSE other END AS source, CASE WHEN e.id < other.id THEN other ELSE e END AS target,
     cosine
WITH source, target, max(cosine) AS cosine
OPTIONAL MATCH (source)-[held:SIMILAR]->(target)
WITH source, target, cosine, held IS NULL AS new
MERGE (source)-[r:SIMILAR]->(target)
SET r.weight = $scale * cosine, r.step = 0, r.source_fires = 0, r.target_fires = 0, r.count = 0, r.last_at = $now,
    r.since = CASE WHEN new THEN $now ELSE r.since END, r.doomed = null
RETURN sum(CASE WHEN new THEN 1 ELSE 0 END) AS made

// name: end
// Those from the memories of a page that were not made again go.
// parameters: space, after, until
MATCH (e:Episode {space: $space})-[r:SIMILAR]->()
WHERE e.number > $after AND e.number <= $until AND r.doomed
DELETE r
