package simd

// Fetch has the processor fetch so many cache lines from p on, at least one, which are soon to be
// read or written. It waits for none of them, and changes nothing.
type Fetch func(p *byte, lines int)

// FetchOf returns the loops that fetch lines to be read and to be written, nil where there are none.
func FetchOf(level Level) (toRead, toWrite Fetch) { return fetchOf(level) }
