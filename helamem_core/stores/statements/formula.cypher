// The formulas that several statements share; each is the twin of a function in `helamem_core.dynamics`.

// name: visible
// Whether a memory `e` exists for the reader: `records.View`, and `filters.matches` as a little stack machine over the
// memory's facets. -1, -2 and -3 are and, or, not.
// parameters: now, since, until, filter
// scope: e
e.archived_at IS NULL
AND (e.expires_at IS NULL OR e.expires_at > $now)
AND e.at >= $since AND e.at <= $until
AND
// include: formula.matches

// name: matches
// Whether a memory `e` fulfils the filter.
// parameters: filter
// scope: e
CASE WHEN size($filter.program) = 0 THEN true ELSE reduce(
  stack = [], op IN $filter.program | CASE op
    WHEN -3 THEN stack[..-1] + [NOT stack[-1]]
    WHEN -2 THEN stack[..-2] + [stack[-2] OR stack[-1]]
    WHEN -1 THEN stack[..-2] + [stack[-2] AND stack[-1]]
    ELSE stack + [head([
      leaf IN [$filter.leaves[op]] | head([
        held IN [[facet IN e.facets WHERE facet STARTS WITH leaf.path | substring(facet, size(leaf.path))]] | CASE leaf.op
          WHEN 'exists' THEN any(value IN held WHERE left(value, 1) <> 'e')
          WHEN 'in' THEN any(value IN held WHERE value IN leaf.values)
            OR leaf.missing AND none(value IN held WHERE left(value, 1) <> 'e')
          WHEN 'gt' THEN any(value IN held WHERE left(value, 1) = leaf.kind AND value > leaf.value)
          WHEN 'gte' THEN any(value IN held WHERE left(value, 1) = leaf.kind AND value >= leaf.value)
          WHEN 'lt' THEN any(value IN held WHERE left(value, 1) = leaf.kind AND value < leaf.value)
          ELSE any(value IN held WHERE left(value, 1) = leaf.kind AND value <= leaf.value)
        END
      ])
    ])]
  END
)[0] END

// name: weight
// What a learned or similarity link `r` of the space `s` weighs now, floor not yet applied: `plasticity.current`.
// parameters: c
// scope: s, r
CASE WHEN type(r) = 'SIMILAR' THEN r.weight ELSE r.weight * (1 - $c.decay) ^ CASE $c.clock
  WHEN 'steps' THEN s.steps - r.step
  ELSE startNode(r).fires - r.source_fires + endNode(r).fires - r.target_fires
END END

// name: floor
// The least weight of a living link `r`; similarity links do not die.
// parameters: c
// scope: r
CASE WHEN type(r) = 'SIMILAR' THEN 5e-324 ELSE CASE WHEN $c.floor > 0 THEN $c.floor ELSE 5e-324 END END

// name: words
// How rare each word of the query is, and what it could score at most: `scoring.inverse_document_frequency`, `lexical`;
// and the digests of those that the space has, for the full-text index, which takes 1,024 at most.
// parameters: space, q (terms, digests), c
// scope: s -> words
CALL (s) {
  UNWIND range(0, size($q.terms) - 1) AS place
  OPTIONAL MATCH (word:Keyword {space: $space, term: $q.terms[place]})
  WITH s, place, coalesce(word.memories, 0) AS frequency
  WITH s, CASE WHEN frequency > 0 THEN $q.digests[place] END AS digest, place,
       log(1 + (s.memories - frequency + 0.5) / (frequency + 0.5)) AS idf
  ORDER BY place
  WITH s.memories AS memories, s.length AS length, collect(idf) AS idf, collect(digest) AS digests
  RETURN {
    idf: idf,
    lookup: reduce(lookup = '', digest IN digests[..1000] | lookup + digest + ' '),
    mean_length: CASE WHEN length > 0 THEN toFloat(length) / memories ELSE 1.0 END,
    ceiling: reduce(sum = 0.0, each IN idf | sum + each) * ($c.bm25_k1 + 1)
  } AS words
  UNION
  WITH s WHERE size($q.terms) = 0
  RETURN {idf: [], lookup: '', mean_length: 1.0, ceiling: 0.0} AS words
}

// name: base
// The base score of a memory `e` with its parts: `dynamics.scoring`.
// parameters: q (terms, keywords), asked_at, c
// scope: e, vector, words -> why
CALL (e, vector, words) {
  WITH e, vector, words, e.terms AS held
  WITH e, words, held,
       CASE WHEN vector IS NULL OR e.embedding IS NULL THEN null
            ELSE $c.similarity_offset + $c.similarity_scale * (2 * vector.similarity.cosine(e.embedding, vector) - 1)
       END AS similarity,
       [place IN range(0, size($q.terms) - 1) WHERE $q.terms[place] IN held] AS shared
  WITH e, similarity, CASE WHEN size(shared) = 0 THEN 0.0 ELSE head([
         length IN [1 - $c.bm25_b + $c.bm25_b * e.length / words.mean_length] | head([
           counts IN [e.counts] | reduce(sum = 0.0, place IN shared | sum + head([
             count IN [counts[head([at IN range(0, size(held) - 1) WHERE held[at] = $q.terms[place]])]]
             | words.idf[place] * count * ($c.bm25_k1 + 1) / (count + $c.bm25_k1 * length)
           ]))
         ])
       ]) / words.ceiling END AS matched
  WITH e, similarity,
       CASE WHEN matched > 0 THEN $c.lexical * matched ^ $c.lexical_power ELSE 0.0 END AS lexical,
       CASE WHEN $c.keywords = 0 OR size($q.keywords) = 0 THEN 0.0
            ELSE $c.keywords * size([word IN $q.keywords WHERE word IN e.keywords]) / toFloat(size($q.keywords)) END AS keywords,
       CASE WHEN e.speaker_terms IS NULL THEN 0.0
            ELSE $c.speaker * size([word IN e.speaker_terms WHERE word IN $q.terms]) / toFloat(size(e.speaker_terms)) END AS speaker,
       CASE WHEN $c.time_scale IS NULL OR $asked_at <= e.at THEN 1.0
            ELSE exp((e.at - $asked_at) / $c.time_scale) END AS decay
  WITH coalesce(similarity, 0.0) AS similarity, lexical, keywords, decay,
       similarity IS NOT NULL OR lexical + keywords > 0 AS competes,
       CASE WHEN similarity IS NOT NULL OR lexical + keywords > 0 THEN speaker ELSE 0.0 END AS speaker
  RETURN {
    similarity: similarity, lexical: lexical, keywords: keywords, speaker: speaker, decay: decay, competes: competes,
    base: decay * (similarity + lexical + keywords + speaker), content: decay * (similarity + lexical + keywords)
  } AS why
}
