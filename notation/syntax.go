package notation

// exprKind is the kind of an expression.
type exprKind uint8

const (
	exprNumber exprKind = iota // text, as written
	exprName                   // text, with refs
	exprCall                   // text(args…)
	exprNeg                    // −args[0]
	exprBinary                 // args[0] text args[1]
)

// expr is an expression. The checker stores what it finds in typ and fn.
type expr struct {
	kind exprKind
	text string
	args []*expr
	refs []axisRef
	span
	typ typ
	fn  *function // of a call
}

// axisRef is an axis in brackets after a name: i, which the quantity must have, or i→k, which
// renames i to k here.
type axisRef struct {
	axis, as string // as is "" if nothing is renamed
	span
}

// axis is an axis of a statement's left side. Its size is a number, the name of an axis of the
// same size, or "" if it is stated elsewhere.
type axis struct {
	name, size string
	span
}

// The kinds of statements, as they are written.
const (
	wordVersion  = "notation"
	wordTitle    = "objective"
	wordInput    = "input"
	wordIndex    = "index"
	wordParam    = "param"
	wordState    = "state"
	wordScalar   = "scalar"
	wordOutput   = "output"
	wordMinimise = "minimise"
	signDefine   = "="
	signUpdate   = "<-"
)

// words are the keywords, which cannot name a quantity.
var words = []string{wordVersion, wordTitle, wordInput, wordIndex, wordParam, wordState, wordScalar, wordOutput, wordMinimise, "minimize"}

// statement is a line of a file: one of the kinds above, or "" for an empty line or one with only
// a comment.
type statement struct {
	kind    string
	name    string // of the quantity; for objective the title, for notation the number
	named   span
	axes    []axis
	value   *expr // of a definition, an update, a scalar, or after ~; nil if there is none
	comment string
	hasNote bool // an empty comment counts
	broken  bool // a mistake was reported, so the rest is unreliable
	// mentions has all names of a broken statement.
	mentions []string
	span
}

// isBlank reports whether the line is empty.
func (s *statement) isBlank() bool { return s.kind == "" && !s.hasNote && !s.broken }
