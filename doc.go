// Package tapestry is a differentiable programming framework: a model is
// written once as a static computational graph, differentiated symbolically,
// compiled to a tape that a small VM runs, and drawn.
//
//	builders ──▶ graph (+ ops) ──▶ graph/grad ──▶ graph/rewrite ──▶ tape ──▶ VM ──▶ values
//	                │                  │               │             │               │
//	                └──────────────────┴──── viz: DOT, SVG, formulas, listing, HTML ─┘
//
// There is no API here: start with packages graph and ops, then grad, tape and
// viz; train and lab train and compare models; cmd/tapestry is the program.
package tapestry
