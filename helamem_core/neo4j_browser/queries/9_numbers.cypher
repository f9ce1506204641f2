// 9 The space in numbers
// What a space holds, and the model of its vectors.
MATCH (s:Space {name: $space}) WHERE s.loading IS NULL
RETURN s.name AS space, s.memories AS memories, COUNT { (:Archived {space: $space}) } AS archived, s.cues AS cues,
       COUNT { (:Waiting {space: $space}) } AS `waiting for a vector`,
       COUNT { (:Episode {space: $space})-[:NEXT]->() } AS `next`,
       COUNT { (:Episode {space: $space})-[:ASSOCIATED]->() } AS associated,
       COUNT { (:Episode|Cue {space: $space})-[:CUED]->() } AS cued,
       COUNT { (:Episode {space: $space})-[:SIMILAR]->() } AS similar,
       s.steps AS reinforcements, s.model AS model, s.dimension AS numbers
