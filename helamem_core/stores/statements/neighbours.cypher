// What a memory or cue is linked to.

// name: links
// Its living links with the other ends that have not expired; no row where neither a memory nor a cue has the id.
// parameters: space, id, now, c
// columns: links
MATCH (s:Space {name: $space})
WHERE s.loading IS NULL
OPTIONAL MATCH (c:Cue {space: $space, id: $id})
OPTIONAL MATCH (e:Episode {space: $space, id: $id})
WITH s, c, e
WHERE c IS NOT NULL OR e IS NOT NULL AND (e.expires_at IS NULL OR e.expires_at > $now)
CALL (s, c, e) {
  CALL (s, c, e) {
    UNWIND [c, e] AS n
    MATCH (n)-[r:ASSOCIATED|CUED|SIMILAR]-(other)
    WITH n, r, other,
    // include: formula.weight
    AS weight,
    // include: formula.floor
    AS floor
    WHERE weight >= floor
    RETURN other, type(r) AS kind, type(r) <> 'CUED' OR startNode(r) = n AS outgoing, weight, r.count AS count,
           r.since AS since, r.last_at AS last_at
    UNION ALL
    MATCH (e)-[r:NEXT]-(other)
    RETURN other, 'NEXT' AS kind, startNode(r) = e AS outgoing, 1.0 AS weight, 0 AS count,
           endNode(r).recorded_at AS since, null AS last_at
  }
  WITH other, kind, outgoing, weight, count, since, last_at
  WHERE other.expires_at IS NULL OR other.expires_at > $now
  RETURN collect({
    id: other.id, text: coalesce(other.text, ''), kind: kind, outgoing: outgoing, weight: weight, count: count,
    since: since, last_at: last_at
  }) AS links
}
RETURN links
