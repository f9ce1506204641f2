// What the database is: its version, its schema, its indexes.

// name: server
// columns: version, edition
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition

// name: version
// The schema's version, and whether the database holds nodes of our labels without being ours.
// columns: version, taken
OPTIONAL MATCH (h:HelaMem)
WITH max(h.version) AS version
RETURN version, version IS NULL AND (
  EXISTS { MATCH (:Space) } OR EXISTS { MATCH (:Episode) } OR EXISTS { MATCH (:Cue) } OR EXISTS { MATCH (:Keyword) }
) AS taken

// name: only_one
CREATE CONSTRAINT helamem_version IF NOT EXISTS FOR (h:HelaMem) REQUIRE h.name IS UNIQUE

// name: set_version
// parameters: version
MERGE (h:HelaMem {name: 'helamem'})
SET h.version = CASE WHEN coalesce(h.version, 0) < $version THEN $version ELSE h.version END

// name: online
// parameters: seconds
CALL db.awaitIndexes($seconds)

// name: vector_indexes
// columns: name, state, label, property, width
SHOW VECTOR INDEXES YIELD name, state, labelsOrTypes, properties, options
WHERE name STARTS WITH 'helamem_'
RETURN name, state, labelsOrTypes[0] AS label, properties[0] AS property,
       options.indexConfig['vector.dimensions'] AS width

// name: memories
// The index of memories by meaning. Quantisation would lose neighbours.
CREATE VECTOR INDEX helamem_memories_{width} IF NOT EXISTS FOR (e:Vector{width}) ON (e.embedding)
OPTIONS {indexConfig: {
  `vector.dimensions`: {width}, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false
}}

// name: cues
CREATE VECTOR INDEX helamem_cues_{width} IF NOT EXISTS FOR (c:CueVector{width}) ON (c.embedding)
OPTIONS {indexConfig: {
  `vector.dimensions`: {width}, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false
}}
