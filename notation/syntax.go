package notation

// exprKind says how an expression is put together.
type exprKind uint8

const (
	exprNumber exprKind = iota // text, as written
	exprName                   // text, with refs
	exprCall                   // text(args…)
	exprNeg                    // −args[0]
	exprBinary                 // args[0] text args[1]
)

// expr is an expression. What the checker finds out is kept in typ and fn.
type expr struct {
	kind exprKind
	text string
	args []*expr
	refs []axisRef
	span
	typ typ
	fn  *function // of a call
}

// axisRef is an axis of a name in brackets: i, which the name must have, or i→k, which
// is to be called k here.
type axisRef struct {
	axis, as string // as is "" where nothing is renamed
	span
}

// axis is an axis of a statement's left side. Its size is a number, the name of an
// axis of the same size, or "" where it stands elsewhere.
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

// words are the keywords, which name no quantity.
var words = []string{wordVersion, wordTitle, wordInput, wordIndex, wordParam, wordState, wordScalar, wordOutput, wordMinimise, "minimize"}

// statement is a line of a file: one of the kinds above, or "" for one that is empty
// or holds only a comment.
type statement struct {
	kind    string
	name    string // of the quantity; of a title the title, of a version the number
	named   span
	axes    []axis
	value   *expr // definition, update, scalar, and what follows ~; nil if there is none
	comment string
	hasNote bool // an empty comment is one, too
	broken  bool // a mistake was reported: the rest cannot be relied on
	// mentions are all names of a broken statement.
	mentions []string
	span
}

// isBlank reports whether the line is empty.
func (s *statement) isBlank() bool { return s.kind == "" && !s.hasNote && !s.broken }
