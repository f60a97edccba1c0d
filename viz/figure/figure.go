package figure

// A Figure is a drawing as data. The zero value is an empty drawing.
type Figure struct {
	Title    string
	Subtitle string
	Desc     string  // one sentence for readers who cannot see the drawing
	Panels   []Panel // none or one: a plain drawing; two: an aligned comparison
	Nodes    []Node  // their order breaks ties of the layout
	Edges    []Edge
	Modules  []Module // titles of modules; an unlisted one is titled by its path
	Footer   []string // lines of text under the panels
	Signs    []string // what signs in the texts mean, for the legend
	Overlay  bool     // roles are told by shape alone, so that colour means heat, group or alarm
	Dense    bool     // small and close together, for what is large
	Heat     string   // what the colours of an overlay measure, with their range, for the legend
}

// A Panel is one of the drawings that a Figure puts side by side.
type Panel struct {
	Title string // heading, such as "A · soft k-means: ℓ = meanᵢ Σⱼ αᵢⱼ‖xᵢ−rⱼ‖²"
	Short string // name in the legend, such as "soft k-means"
}

// A Node is a box with up to two lines of text.
type Node struct {
	ID        string    // unique, of a–z, 0–9, '_' and '-'
	Main, Sub string    // first and second line
	PanelMain [2]string // replaces Main in panel 1 or 2 where not empty
	PanelSub  [2]string // replaces Sub in panel 1 or 2 where not empty
	Params    string    // the parameters drawn inside, or the gradients by them, or ""
	Title     string    // the whole text, for tooltips and screen readers
	Role      Role
	Module    string    // path "a/b" of the module that holds the node; "" is none
	Row       string    // ID of the node in whose row it is drawn, or ""
	Backward  bool      // drawn in the gradient column
	Panel     int       // 0: in every panel; 1 or 2: only there
	Status    [2]Status // status in the comparison, by panel
	Badge     string    // a few characters on a plate at the top right, or ""
	Closed    string    // the path of the module that the node stands for, or ""
	Copies    []string  // the paths of the modules that it stands for, if they are several
	Heat      int       // 1 to HeatSteps: the fill, from pale to strong; 0 for none
	Group     int       // 1 to Groups: the fill of a category, without order; 0 for none
	Alarm     Alarm
	PanelRole [2]*Role // replaces Role in panel 1 or 2 if not nil; DOT has one node for both
	PanelMark [2]*Mark // replaces Heat, Group, Badge and Alarm in panel 1 or 2 if not nil; DOT has one node for both
}

// A Mark says how an overlay marks a node in one panel of a comparison.
type Mark struct {
	Heat, Group int
	Badge       string
	Alarm       Alarm
}

// An Edge joins two nodes by ID. Forward edges are drawn downwards, Grad and Assign edges upwards
// or level, as far as rows fixed by the caller allow. Saved and Carry edges require nothing of rows.
type Edge struct {
	From, To string
	Label    string
	Kind     Kind
	Panel    int    // 0: wherever both ends are; 1 or 2: only there
	Title    string // more for the tooltip, or ""

	PanelLabel [2]string // replaces Label in panel 1 or 2 where not empty
}

// A Module titles the box around the nodes of one module path and column.
type Module struct {
	Path     string
	Title    string
	Backward bool     // the box in the gradient column
	Panel    int      // 0: title for every panel; 1 or 2: only there
	Copies   []string // the paths of the modules that it stands for, if they are several
}

// A Role is the role of a node in the computation; it determines shape and colour.
type Role uint8

// The roles, in the order of the legend.
const (
	Input    Role = iota // fed in each run
	Hyper                // a number with a default that a run may replace: a hyperparameter
	Param                // trained
	State                // carried from step to step
	Const                // fixed
	Op                   // element by element
	Move                 // takes, joins or lays out elements
	Along                // combines the elements along an axis and keeps them all: softmax, a loop
	Reduce               // combines elements: sums, products, convolutions
	Gradient             // derivative of the value in its row
	Loss                 // the quantity to minimise; on the last row
	Output               // a result asked for
	Update               // assigns a parameter or state at the end of a step
	roles    = iota
)

// A Kind says what an edge carries.
type Kind uint8

// The kinds of edge, in the order of the legend.
const (
	Forward Kind = iota // a value
	Grad                // a gradient
	Saved               // a value used by a gradient
	Assign              // an operand of an update, or what it changes
	Carry               // a value that a step of a loop leaves to the next
	kinds   = iota
)

// A Status relates a node of a comparison to the other panel.
type Status uint8

// The statuses. Plain is for figures without comparison.
const (
	Plain    Status = iota
	Shared          // the same in both panels
	Only            // exists in this panel only (+)
	Upstream        // same rule on different operands (≈)
	Term            // same rule with one more term on this side (Δ)
	statuses = iota
)

var roleNames = [roles]string{"input", "hyper", "param", "state", "const", "op", "move", "along", "reduce", "grad", "loss", "output", "update"}

// String returns the short lower-case name used in classes and tooltips.
func (r Role) String() string { return nameOf(roleNames[:], int(r)) }

var kindNames = [kinds]string{"forward", "grad", "saved", "assign", "carry"}

// String returns the short lower-case name used in classes and tooltips.
func (k Kind) String() string { return nameOf(kindNames[:], int(k)) }

var statusNames = [statuses]string{"plain", "shared", "only", "upstream", "term"}

// String returns the short lower-case name used in classes.
func (s Status) String() string { return nameOf(statusNames[:], int(s)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// panels returns the number of panels drawn.
func (f *Figure) panels() int { return max(1, len(f.Panels)) }

// comparing reports whether statuses are drawn.
func (f *Figure) comparing() bool { return len(f.Panels) == 2 }

// marked returns n with the role and the marks of panel p (0 or 1).
func (n *Node) marked(p int) *Node {
	own := *n
	if r := n.PanelRole[p]; r != nil {
		own.Role = *r
	}
	if m := n.PanelMark[p]; m != nil {
		own.Heat, own.Group, own.Badge, own.Alarm = m.Heat, m.Group, m.Badge, m.Alarm
	}
	return &own
}

// label returns the label of e in panel p (0 or 1).
func (e *Edge) label(p int) string {
	if e.PanelLabel[p] != "" {
		return e.PanelLabel[p]
	}
	return e.Label
}

// longest returns the label of e that takes most room.
func (e *Edge) longest() string {
	a, b := e.label(0), e.label(1)
	if labelWidth(b) > labelWidth(a) {
		return b
	}
	return a
}

// main returns the first line of n in panel p (0 or 1).
func (n *Node) main(p int) string {
	if n.PanelMain[p] != "" {
		return n.PanelMain[p]
	}
	return n.Main
}

// sub returns the second line of n in panel p (0 or 1).
func (n *Node) sub(p int) string {
	if n.PanelSub[p] != "" {
		return n.PanelSub[p]
	}
	return n.Sub
}

// A panelSet is a bit set of panels; bit p stands for panel p+1.
type panelSet uint8

// seenIn turns a Panel field into the set of panels it names.
func seenIn(panel int) panelSet {
	if panel == 0 {
		return 0b11
	}
	return 1 << (panel - 1)
}

func (s panelSet) has(p int) bool { return s>>p&1 != 0 }
