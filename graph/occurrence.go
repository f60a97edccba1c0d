package graph

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Occurrence is one place where a node was asked for. The node itself has only an operation and
// inputs, because equal calls return one node.
type Occurrence struct {
	Name   string // given with As; "" if none
	Scope  string // path of the open scopes
	Pos    Pos    // the user's line
	Call   string // the function that combines operations, if any (Graph.Calling); not in the text form
	Origin Origin
}

// Pos is a line of the user's program; the zero Pos is unknown.
type Pos struct {
	File string // relative to the user's module
	Line int
}

// String returns "model.go:12", or "" if the line is unknown.
func (p Pos) String() string {
	if p.File == "" {
		return ""
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// OriginKind says who asked for a node.
type OriginKind uint8

// The kinds of origins.
const (
	FromUser    OriginKind = iota // a call of the user's, perhaps through a builder
	FromGrad                      // the derivative rule of the forward node Of
	FromAdjoint                   // the whole derivative of Loss with respect to Of
	FromTangent                   // the rule by which the node Of moves with its operands; Loss is Of
)

var originNames = [...]string{"user", "grad", "adjoint", "tangent"}

// String returns the word of the text form: user, grad, adjoint, tangent.
func (k OriginKind) String() string { return originNames[min(int(k), len(originNames)-1)] }

// IsBackward reports whether reverse mode asked for the node.
func (k OriginKind) IsBackward() bool { return k == FromGrad || k == FromAdjoint }

// Origin is the reason that a node exists.
type Origin struct {
	Kind OriginKind
	Of   *Node  // all but FromUser: the node differentiated
	Loss *Node  // all but FromUser: what is differentiated
	Rule string // the rewrite that put the node here; "" if none did
	Was  *Node  // with Rule: the node replaced, of the graph before (not in the text form)
}

// Occurrences lists where the node was asked for, the first first. The list must not be changed.
func (n *Node) Occurrences() []Occurrence {
	if n == nil {
		return nil
	}
	return slices.Clip(n.occurs)
}

// First returns the first occurrence, where drawings place the node; the zero Occurrence if the
// node is invalid.
func (n *Node) First() Occurrence {
	if all := n.Occurrences(); len(all) > 0 {
		return all[0]
	}
	return Occurrence{}
}

// Name returns the first name that the node was given, "" if it has none.
func (n *Node) Name() string {
	for _, o := range n.Occurrences() {
		if o.Name != "" {
			return o.Name
		}
	}
	return ""
}

// IsBackward reports whether the node exists only because something was
// differentiated back. A forward node that a derivative happens to reuse stays
// forward, and so do tangents, which flow as values do.
func (n *Node) IsBackward() bool {
	for _, o := range n.Occurrences() {
		if !o.Origin.Kind.IsBackward() {
			return false
		}
	}
	return len(n.Occurrences()) > 0
}

// AdjointOf returns the forward node whose whole derivative this node is, and the loss; nil if it
// is not a derivative.
func (n *Node) AdjointOf() (of, loss *Node) {
	for _, o := range n.Occurrences() {
		if o.Origin.Kind == FromAdjoint {
			return o.Origin.Of, o.Origin.Loss
		}
	}
	return nil, nil
}

// As names the node as the user's mathematics does, and returns it. Formulas stop at named
// nodes. A node may have several names; the first is printed.
func (n *Node) As(name string) *Node {
	if !n.IsValid() {
		return n
	}
	last := &n.occurs[len(n.occurs)-1]
	if o := n.g.occurrence(); last.Name == "" && (last.Pos == o.Pos || o.Pos == Pos{}) && last.Scope == o.Scope && last.Origin == o.Origin {
		last.Name = name
		return n
	} else if last.Name != name || last.Scope != o.Scope {
		o.Name = name
		n.occurs = append(n.occurs, o)
	}
	return n
}

// manyOccurrences is the number after which only uses with a name of the user's are recorded:
// thousands of derivatives may share a literal, or thousands of nodes a derivative.
const manyOccurrences = 32

// occur records a use, unless the same place has already recorded it.
func (n *Node) occur(o Occurrence) {
	byUser := o.Origin.Kind == FromUser
	if len(n.occurs) >= manyOccurrences && !(byUser && (o.Name != "" || n.IsBackward())) {
		return
	}
	for i := range n.Occurrences() {
		p := &n.occurs[i]
		if p.Pos == o.Pos && p.Scope == o.Scope && p.Origin == o.Origin && (o.Name == "" || p.Name == "" || p.Name == o.Name) {
			if p.Name == "" {
				p.Name = o.Name
			}
			return
		}
	}
	n.occurs = append(n.occurs, o)
}

// context replaces the position, scope and origin of what is added while a
// graph is changed by the library itself.
type context struct {
	fixed  bool
	scope  string
	pos    Pos
	call   string
	origin Origin
}

// During runs f, and gives each node that f adds to g the scope, position and call of at and the
// given origin. The differentiator and the rewriter use it to record why a node exists.
func (g *Graph) During(at Occurrence, origin Origin, f func()) {
	if f == nil {
		return
	}
	old := g.ctx
	defer func() { g.ctx = old }()
	g.ctx = context{true, at.Scope, at.Pos, at.Call, origin}
	f()
}

// Because names the rewrite rule behind the nodes that the rest of the current [Graph.During] adds.
func (g *Graph) Because(rule string) { g.ctx.origin.Rule = rule }

// Occur adds an occurrence to a node of g. It is for packages that change graphs, which know more
// about the node than the call at hand.
func (g *Graph) Occur(n *Node, o Occurrence) {
	if n.IsValid() && n.g == g {
		n.occur(o)
	}
}

func (g *Graph) occurrence() Occurrence {
	o := Occurrence{Scope: g.scope(), Pos: g.ctx.pos, Call: g.ctx.call, Origin: g.ctx.origin}
	if o.Call == "" && g.call != nil {
		o.Call = g.call.what
	}
	if !g.ctx.fixed {
		o.Pos = g.caller()
	}
	return o
}

// Folders of this module in which lines are told apart.
var (
	users  = []string{"cmd/", "examples/"} // programs, which use the library as anyone does
	byName = []string{"cmd/"}              // those that build models by their names in the registry
	models = []string{"builders/", "nn/"}  // where such a model has its lines
)

// below reports whether a file, given by its path in the module, is in one of the folders.
func below(folders []string, file string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(file, f) })
}

// libraryRoot returns the directory of this module as the compiler recorded it, which -trimpath and
// vendoring change alike for every file of the module.
func libraryRoot() string {
	_, file, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(file, "graph/occurrence.go")
}

// isLibrary reports whether a source file belongs to the library rather than to its user. Programs,
// examples and tests are users. Files tell, not names of functions: a closure inlined into the
// user's function has a name like the user's.
func (g *Graph) isLibrary(file string) bool {
	rest, ok := strings.CutPrefix(file, g.root)
	return ok && !below(users, rest) && !strings.HasSuffix(file, "_test.go")
}

// calls are the innermost frames of a stack.
type calls [16]uintptr

// caller returns the user's line. A loop that builds a large graph makes the same calls again and
// again, and to find the frames of a stack costs more than a node, so that the line is kept by the
// innermost calls.
func (g *Graph) caller() Pos {
	var near calls
	n := runtime.Callers(3, near[:])
	if p, ok := g.lines[near]; ok {
		return p
	}
	if p, ok := g.userLine(near[:n]); ok {
		g.lines[near] = p
		return p
	}
	far := make([]uintptr, 64)
	for n = runtime.Callers(3, far); n == len(far); n = runtime.Callers(3, far) {
		far = make([]uintptr, 2*len(far))
	}
	p, _ := g.userLine(far[:n])
	return p
}

// userLine returns the line of the first frame outside the library; false if there is none. Where
// that is in a program that builds models by their names, it returns the line of the model or layer
// instead, which says more, and where there is none, as for an optimiser, no line: that of the program
// says nothing to who runs it.
func (g *Graph) userLine(pcs []uintptr) (Pos, bool) {
	frames := runtime.CallersFrames(pcs)
	var model Pos
	for {
		f, more := frames.Next()
		if f.File != "" {
			file, own := strings.CutPrefix(f.File, g.root)
			switch {
			case !g.isLibrary(f.File) && own && below(byName, file) && (model != Pos{} || !strings.HasSuffix(file, "_test.go")):
				return model, true
			case !g.isLibrary(f.File):
				return Pos{g.printedFile(f.File), f.Line}, true
			case below(models, file) && model == Pos{}:
				model = Pos{file, f.Line}
			}
		}
		if !more {
			return Pos{}, false
		}
	}
}

// printedFile returns the path of a file in its module, so that drawings and errors are the same on
// every machine: the part below the nearest go.mod, or the last element if the source is not at
// hand.
func (g *Graph) printedFile(file string) string {
	if s, ok := g.files[file]; ok {
		return s
	}
	s := filepath.Base(file)
	if rel, ok := strings.CutPrefix(file, g.root); ok {
		s = rel
	} else {
		for dir := filepath.Dir(file); filepath.IsAbs(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				if rel, err := filepath.Rel(dir, file); err == nil {
					s = filepath.ToSlash(rel)
				}
				break
			}
		}
	}
	g.files[file] = s
	return s
}
