// Package page has the page in the browser: models read, stepped, trained and compared.
//
// It takes requests, and gives JSON, drawings as sheets, charts as SVG, and the
// embedded assets of the page itself. A document is a model of the registry, or of
// a text in formula notation, with a training session of its own: every step of it
// can be looked at again, forwards and backwards. Logs of trainings elsewhere are
// followed while they are written, and drawn over each other.
//
//	s := page.New(page.Options{})
//	a := s.Answer(ctx, page.Request{Method: "GET", Path: "/api/models"})
//
// Package server brings the requests of browsers, and the program in worker, which is
// this package as WebAssembly, those of a page that has no server. Paths, statuses and
// media types are those of HTTP, but nothing here depends on it.
//
// What the page shows of one step it asks for as one request, a frame: POST /api/frame with
// {"parts": ["api/docs/d1/sheet?step=5", …]}.
//
// The text form of everything is JSON: numbers that JSON lacks are the strings
// "NaN", "+Inf" and "-Inf", and a mistake is an object with the field "error".
//
// What it promises:
//
//   - The values shown of step K are those that the tape computes at step K: a value is
//     recomputed from a snapshot of the store with that step's feed, and a run is a
//     pure function of the two.
//   - Nothing but named assets, the logs of [Options] and the files that these name is
//     read, and no request names a file.
//   - Work is bounded: by the size of a model and of its memory, by the number of
//     documents, by how many computations run at a time, and by timeouts.
//   - A panic is one request's answer 500 and a line of the log.
package page
