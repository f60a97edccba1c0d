// Package page is the page in the browser: models read, stepped, trained and
// compared over HTTP.
//
// It takes requests, and gives JSON, drawings as sheets, charts as SVG, and the
// embedded assets of the page itself. A document is a model of the registry, or of
// a text in formula notation, with a training session of its own: every step of it
// can be looked at again, forwards and backwards. Logs of trainings elsewhere are
// followed while they are written, and drawn over each other.
//
//	s, err := page.New(page.Options{Hosts: page.Hosts(listener.Addr())})
//	err = s.Serve(ctx, listener)
//
// The text form of everything is JSON: numbers that JSON lacks are the strings
// "NaN", "+Inf" and "-Inf", and a mistake is an object with the field "error".
//
// What it promises:
//
//   - The values shown of step K are those that the tape computes at step K: a value is
//     recomputed from a snapshot of the store with that step's feed, and a run is a
//     pure function of the two.
//   - Only the page itself is answered: other hosts' names and other sites' requests
//     are refused, nothing but named assets and the logs of [Options] is read, no
//     request names a file, and every answer forbids the browser to ask anyone else.
//   - Work is bounded: by the size of a request, of a model and of its memory, by the
//     number of documents, by how many computations run at a time, and by timeouts.
//     A request that goes away takes its computation with it.
//   - A panic is one request's answer 500 and a line of the log.
package page
