// The first schema. Each statement is one line of the list below, run by itself, and may be run again.
//
// A space is a wall: every node bears its name. `number` counts what a space was given, memories and cues in one row.
//   (:Space)     its clock, its model, and the counts that the formulas need
//   (:Episode)   a turn; `:Archived` out of the active graph, `:Waiting` for a vector, `:Vector<width>` in the index
//   (:Cue)       what asked and is no turn; `:Asked` it and the turns that led to others, `:CueVector<width>` in the index
//   (:Keyword)   a word of the space and how many active memories have it
//   (:Event)     a reinforcement that is not applied again
//   (:Staged)    a vector of another model, until it is adopted
//   NEXT (order of turns), ASSOCIATED (learned, from the smaller id to the greater), CUED (learned, from what asked to
//   what it used), SIMILAR (near neighbours, from the smaller id to the greater)

// name: space
CREATE CONSTRAINT helamem_space IF NOT EXISTS FOR (s:Space) REQUIRE s.name IS UNIQUE

// name: episode
CREATE CONSTRAINT helamem_episode IF NOT EXISTS FOR (e:Episode) REQUIRE (e.space, e.id) IS UNIQUE

// name: cue
CREATE CONSTRAINT helamem_cue IF NOT EXISTS FOR (c:Cue) REQUIRE (c.space, c.id) IS UNIQUE

// name: keyword
CREATE CONSTRAINT helamem_keyword IF NOT EXISTS FOR (k:Keyword) REQUIRE (k.space, k.term) IS UNIQUE

// name: event
CREATE CONSTRAINT helamem_event IF NOT EXISTS FOR (v:Event) REQUIRE (v.space, v.id) IS UNIQUE

// name: staged
CREATE CONSTRAINT helamem_staged IF NOT EXISTS FOR (t:Staged) REQUIRE (t.space, t.kind, t.id) IS UNIQUE

// No index of memories is on the space alone: a plan that was made while the database was small would take it for a
// memory's id too, and go through the whole space.

// name: episode_number
CREATE INDEX helamem_episode_number IF NOT EXISTS FOR (e:Episode) ON (e.space, e.number)

// name: episode_session
CREATE INDEX helamem_episode_session IF NOT EXISTS FOR (e:Episode) ON (e.space, e.session, e.number)

// name: episode_expiry
CREATE INDEX helamem_episode_expiry IF NOT EXISTS FOR (e:Episode) ON (e.space, e.expires_at)

// name: cue_age
CREATE INDEX helamem_cue_age IF NOT EXISTS FOR (c:Cue) ON (c.space, c.last_at)

// name: cue_number
CREATE INDEX helamem_cue_number IF NOT EXISTS FOR (c:Cue) ON (c.space, c.number)

// name: asked_space
CREATE INDEX helamem_asked_space IF NOT EXISTS FOR (c:Asked) ON (c.space)

// name: waiting_space
CREATE INDEX helamem_waiting_space IF NOT EXISTS FOR (e:Waiting) ON (e.space)

// name: event_age
CREATE INDEX helamem_event_age IF NOT EXISTS FOR (v:Event) ON (v.space, v.at)

// name: words
CREATE FULLTEXT INDEX helamem_words IF NOT EXISTS FOR (e:Episode) ON EACH [e.postings]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}
