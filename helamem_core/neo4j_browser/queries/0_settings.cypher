// 0 Settings
// Edit space (whose memories) and about (words that their text has), then run this once, and the other queries after it.
// c is what links fade by: those of the configuration `DEFAULT` are here.
:params {
  space: 'alice',
  about: 'tea',
  c: {clock: 'fires', decay: 0.005, floor: 0.005}
}
