// The best memories for a query, in one statement: what indexes nominate is scored, the strongest spread, the best come
// back with their reasons. The twin of `helamem_core.stores.reference.recall`.
//
// The server makes a plan for each combination of parameters' types. What may be null, or a list of any length, goes in as
// one map, so that one plan serves all.

// name: recall
// With vectors of a width.
// parameters: space, q (model, vector, cue, asks_as_it_is, terms, digests, keywords: what may be null or empty), k, near, worded,
//   exact_up_to, everything, now, asked_at, since, until, as_of, filter, c (the settings)
// columns: model, dimension, normalised, unembedded, short, items
// include: recall.space
// include: lookup.nearest
// include: lookup.nearest_cues
// include: recall.answer

// name: recall_by_words
// Without a vector.
// parameters: space, q, k, worded, everything, now, asked_at, since, until, as_of, filter, c
// columns: as of `recall`
// include: recall.space
WITH s, vector, cue, false AS all, [] AS around, [] AS asked, -1.0 AS depth
// include: recall.answer

// name: space
// The space, and the query's vectors where they are of its model. Where both are one, it travels once.
// parameters: space, q (model, vector, cue, asks_as_it_is)
// scope: -> s, vector, cue
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
WITH s, $q.model IS NULL OR
     s.model = $q.model.name AND s.dimension = $q.model.dimension AND s.normalised = $q.model.normalised AS counts
WITH s, CASE WHEN counts THEN $q.vector END AS vector,
     CASE WHEN counts THEN CASE WHEN $q.asks_as_it_is THEN $q.vector ELSE $q.cue END END AS cue

// name: answer
// Score, spread, choose.
// scope: s, vector, cue, all, around, asked, depth
// include: formula.words
// include: recall.by_words
// include: recall.nominated
// include: recall.seeds
// include: recall.near_cues
// include: recall.lifts
// include: recall.chosen

// name: by_words
// Memories that share words with the query. Words are looked up as digests of space and word: a user's text is never
// syntax, and no other space's words count.
// scope: s, words, all -> hits
CALL (s, words, all) {
  WITH s, words WHERE NOT all AND words.lookup <> ''
  CALL db.index.fulltext.queryNodes('helamem_words', words.lookup,
    {limit: CASE WHEN $everything THEN s.memories + 1 ELSE $worded END}) YIELD node AS e
  RETURN collect(e) AS hits
}

// name: nominated
// Those of them that exist for the reader, scored; and whether a leg was cut off before enough of them were found.
// scope: s, vector, words, all, around, hits -> nominated, short
CALL (around, hits) {
  CALL (around, hits) {
    UNWIND around AS e
    RETURN e, true AS is_near
    UNION ALL
    UNWIND hits AS e
    RETURN e, false AS is_near
  }
  WITH e, is_near
  WHERE e.space = $space AND
  // include: formula.visible
  RETURN collect(DISTINCT e) AS seen, sum(CASE WHEN is_near THEN 1 ELSE 0 END) AS seen_near,
         sum(CASE WHEN is_near THEN 0 ELSE 1 END) AS seen_hits
}
CALL (seen, vector, words) {
  UNWIND seen AS e
  // include: formula.base
  RETURN collect({e: e, why: why}) AS nominated
}
WITH *, NOT all AND NOT $everything AND (
  vector IS NOT NULL AND seen_near < $k AND seen_near < s.embedded
  OR seen_hits < $k AND size(hits) >= $worded
) AS short

// name: seeds
// The best by content spread: `spreading.strength`.
// scope: nominated, vector -> seeds
CALL (nominated, vector) {
  UNWIND nominated AS row
  WITH row, vector WHERE row.why.competes
  WITH row.e AS e, row.why.content AS content,
       CASE WHEN vector IS NULL THEN $c.words_threshold ELSE $c.threshold END AS threshold
  ORDER BY round(content, $c.digits, 'HALF_EVEN') DESC, e.id
  LIMIT toInteger($c.seeds)
  WITH e, CASE WHEN content <= threshold THEN 0.0 WHEN $c.excess THEN content - threshold ELSE content END AS activation
  WHERE activation <> 0
  RETURN collect({e: e, activation: activation}) AS seeds
}

// name: near_cues
// The earlier cues most like this one that still lead somewhere: `spreading.trace`.
// scope: s, cue, asked, depth -> cues, cues_short
CALL (s, cue, asked, depth) {
  CALL (s, cue, asked) {
    UNWIND asked AS e
    WITH s, e, cue, 2 * vector.similarity.cosine(e.embedding, cue) - 1 AS cosine
    WHERE cosine > $c.cue_threshold AND $c.cued > 0
      AND (e:Cue OR e.archived_at IS NULL AND (e.expires_at IS NULL OR e.expires_at > $now)
                    AND e.at <= $as_of)
    CALL (s, e) {
      MATCH (e)-[r:CUED]->(other)
      WITH other,
      // include: formula.weight
      AS weight,
      // include: formula.floor
      AS floor
      WHERE weight >= floor
      RETURN collect({e: other, weight: weight}) AS led
    }
    WITH e, cosine, led WHERE size(led) > 0
    ORDER BY round(cosine, $c.digits, 'HALF_EVEN') DESC, e.id
    LIMIT $c.cues
    RETURN collect({id: e.id, activation: ((cosine - $c.cue_threshold) / (1 - $c.cue_threshold)) ^ 2, led: led}) AS cues
  }
  RETURN cues, size(cues) < $c.cues AND depth > $c.cue_threshold AND $c.cued > 0 AS cues_short
}

// name: lifts
// What seeds lend along the order of turns and over links, and cues to what they led to: `spreading.lift`, `share`.
// scope: s, vector, words, seeds, cues -> lifted
CALL (s, vector, words, seeds, cues) {
  CALL (s, seeds, cues) {
    UNWIND seeds AS seed
    WITH seed.e AS seed, $c.next * seed.activation AS amount
    MATCH (seed)-[:NEXT]-(e)
    RETURN e, 'NEXT' AS kind, seed.id AS source, 1.0 AS weight, amount
    UNION ALL
    WITH s, seeds WHERE $c.associated > 0 OR $c.similar > 0
    UNWIND seeds AS seed
    WITH s, seed.e AS seed, seed.activation AS activation
    MATCH (seed)-[r:ASSOCIATED|SIMILAR]-(e)
    WITH s, seed, activation, e, type(r) AS kind,
    // include: formula.weight
    AS weight,
    // include: formula.floor
    AS floor
    WHERE weight >= floor
    WITH s, seed, activation, kind, collect({e: e, weight: weight}) AS links
    UNWIND links AS link
    WITH s, seed, activation, kind, size(links) AS fan, link.e AS e, link.weight AS weight
    CALL (s, e, kind) {
      WITH s, e, kind WHERE $c.target_fan > 0
      MATCH (e)-[r:ASSOCIATED|SIMILAR]-()
      WHERE type(r) = kind
      WITH
      // include: formula.weight
      AS weight,
      // include: formula.floor
      AS floor
      WHERE weight >= floor
      RETURN count(*) AS competing
      UNION ALL
      WITH e WHERE $c.target_fan = 0
      RETURN 1 AS competing
    }
    WITH seed, activation, kind, fan, e, weight, max(competing) AS competing
    RETURN e, kind, seed.id AS source, weight,
           CASE kind WHEN 'SIMILAR' THEN $c.similar ELSE $c.associated END * activation * weight
           / ((1.0 + fan) ^ $c.source_fan * toFloat(competing) ^ $c.target_fan) AS amount
    UNION ALL
    UNWIND cues AS cue
    UNWIND cue.led AS link
    RETURN link.e AS e, 'CUED' AS kind, cue.id AS source, link.weight AS weight,
           $c.cued * cue.activation * link.weight / toFloat(size(cue.led)) ^ $c.cue_fan AS amount
  }
  WITH e, kind, source, weight, amount
  WHERE amount > 0 AND
  // include: formula.visible
  WITH e, collect({kind: kind, source: source, weight: weight, amount: amount}) AS found,
       sum(CASE WHEN kind = 'NEXT' THEN amount ELSE 0.0 END) AS along,
       sum(CASE WHEN kind = 'NEXT' THEN 0.0 ELSE amount END) AS total
  WITH e, along, total, found,
       CASE WHEN total > $c.ceiling THEN $c.ceiling / total ELSE 1.0 END AS share
  WITH e, along + share * total AS lift, [
         link IN found | CASE WHEN link.kind = 'NEXT' THEN link ELSE {
           kind: link.kind, source: link.source, weight: link.weight, amount: share * link.amount
         } END
       ] AS lifts
  // include: formula.base
  RETURN collect({e: e, why: why, lift: lift, lifts: lifts}) AS lifted
}

// name: chosen
// Those among which the best are, by base score or by final score; `dynamics.retrieval.select` takes its pick.
// scope: s, vector, nominated, lifted, short, cues_short
CALL (nominated, lifted) {
  CALL (nominated, lifted) {
    UNWIND lifted AS row
    RETURN row.e AS e, row.why AS why, row.lift AS lift, row.lifts AS lifts
    UNION ALL
    WITH nominated, [row IN lifted | row.e] AS already
    UNWIND nominated AS row
    WITH row, already WHERE row.why.competes AND NOT row.e IN already
    RETURN row.e AS e, row.why AS why, 0.0 AS lift, [] AS lifts
  }
  WITH e, why, lifts, lift, CASE WHEN why.competes THEN why.base ELSE 0.0 END + lift AS final
  ORDER BY round(final, $c.digits, 'HALF_EVEN') DESC, e.id
  WITH collect({e: e, why: why, lifts: lifts, lift: lift}) AS ranked
  CALL (ranked) {
    UNWIND ranked AS row
    WITH row WHERE row.why.competes
    WITH row ORDER BY round(row.why.base, $c.digits, 'HALF_EVEN') DESC, row.e.id
    RETURN collect(row)[..$k] AS based
  }
  WITH ranked[..$k] AS best, based
  UNWIND best + [row IN based WHERE NOT row.e IN [each IN best | each.e]] AS row
  WITH row, row.e AS e
  RETURN collect({
    why: row.why, lifts: row.lifts, lift: row.lift, node: e {
      .id, .text, .role, .speaker, .session, .at, .recorded_at, .expires_at, .metadata, .keywords, .archived_at,
      .fires, .uses, .last_used_at, previous: head([(before)-[:NEXT]->(e) | before.id])
    }
  }) AS items
}
CALL (s) {
  MATCH (e:Waiting {space: $space})
  WHERE e:Episode AND
  // include: formula.visible
  RETURN count(e) AS unembedded
}
RETURN s.model AS model, s.dimension AS dimension, s.normalised AS normalised, unembedded,
       short OR cues_short AS short, items
