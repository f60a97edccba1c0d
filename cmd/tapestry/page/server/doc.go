// Package server brings the requests of browsers to the page, over HTTP.
//
//	s := server.New(page.New(page.Options{}), server.Hosts(listener.Addr()), nil)
//	err := s.Serve(ctx, listener)
//
// What it promises:
//
//   - Only the page itself is answered: other hosts' names and other sites' requests are refused,
//     and every answer forbids the browser to ask anyone else.
//   - Requests are bounded in size, and connections in time.
//   - A request that goes away takes its computation with it.
package server
