package report

import "html/template"

// Page is what a comparison has to tell. Where no run has an inertia, the variants are
// not clusterings, and are judged by their loss. Only variants with runs are needed;
// what is missing is left out of the file. Slices are read, never changed.
type Page struct {
	Title      string // the heading; by default the variants' names and the data's
	Data       Data
	Setup      Setup
	Variants   []Method // the objectives that are compared
	Baselines  []Method // other ways to the same end; the first is the level to reach
	Drawing    Drawing
	Drawings   []Drawing `json:",omitempty"` // of further pairs, where there are more than two variants
	Difference Difference
	Plane      Plane
	// Between is the agreement of the best runs: the adjusted Rand index of the
	// assignments of methods i and j, variants first and then baselines, a symmetric square.
	Between [][]float64
	Sweeps  []Sweep
	// Task says in words what the variants were trained on, where that is not the
	// data, and for which of them it is the same.
	Task string `json:",omitempty"`
	// Pairs compares where the losses of variants end, for those where that makes
	// sense.
	Pairs []Pair `json:",omitempty"`
	// Matrix is what was tried besides, where there are several settings, and how the
	// variants measure by each other's metrics.
	Matrix Matrix `json:",omitempty"`
	Made   Made
}

// Pair is the difference of two variants' losses at the end, B's minus A's, seed by
// seed.
type Pair struct {
	A, B   int     // indices of variants
	Mean   float64 // over the seeds
	Error  float64 // its standard error; NaN for one seed
	Beyond bool    // whether the difference exceeds the noise
	Half   float64 `json:",omitempty"` // of the 95 % interval, Mean ± Half
	P      float64 `json:",omitempty"` // how likely chance alone makes such a difference, corrected for the number of pairs
}

// Data says what the methods were trained on.
type Data struct {
	Name     string
	Rows     int
	Features []string // names of the columns
	Classes  []string // names of the labels; none without labels
	Scale    float64  `json:",omitempty"` // the root mean squared distance of a row from the mean of all; 0 where it is not known
}

// Setup is what the variants have in common.
type Setup struct {
	K         int       // centres
	Steps     int       // of training
	Optimiser string    // in words, such as "Adam, rate 0.05"
	Start     string    // in words: where the centres begin
	Schedule  string    // in words: how γ changes
	Gamma     []float64 `json:"-"`
	Baselines string    `json:",omitempty"` // in words: how the baselines were trained
	Angle     string    `json:",omitempty"` // the two objectives of [Run.Angle]; empty for all that are compared
	Test      string    // for convergence, in words; empty where no run was tested
}

// Method is one way to find centres, or another model, with its runs.
type Method struct {
	Name string
	// Formula is the objective, and Chain how its derivative comes about, each
	// line from those before. Both are inline HTML or MathML.
	Formula template.HTML `json:"-"`
	Chain   []Equation    `json:"-"`
	LaTeX   string        // source of formula and chain
	Runs    []Run
	// Centres are the final ones of the best run, [k features]. Row j of every
	// method is the same centre as nearly as possible.
	Centres [][]float64
	// Paths are the ways of the best run's centres in the plane, from the start, with
	// the entries of its Inertia.
	Paths [][][2]float64 `json:"-"`
	// Counts are the points of the best run by class and centre, [classes k].
	Counts [][]int
	// Optima are the different groupings that the runs came to rest in, the one of least
	// inertia first; none where they are not known.
	Optima []Optimum `json:",omitempty"`
	Cost   Cost
}

// Optimum is a grouping of the points in which some runs of a method came to rest.
type Optimum struct {
	Inertia float64
	Runs    int
}

// Equation is a line of a derivation.
type Equation struct {
	Math template.HTML // inline HTML or MathML
	Why  string        // the rule behind it; may be empty
}

// Run is one training from one seed. The curves have an entry per step, of what
// was measured before it, and perhaps one more for the end; those of Inertia, Spread and
// Angle are of the steps At, where that is not nil. A curve that was not
// measured is nil. The last entry of Inertia is the run's result; on a page where no
// run has any, End is.
type Run struct {
	Seed     uint64
	Loss     []float64 `json:"-"` // the method's own objective
	Inertia  []float64 `json:"-"` // Σ_i min_j ‖x_i − r_j‖², of the hard assignment
	Spread   []float64 `json:"-"` // mean_i Σ_j α_ij ‖r_j − r̂_i‖²
	Movement []float64 `json:"-"` // √Σ_j ‖Δr_j‖²
	Angle    []float64 `json:"-"` // degrees between the objectives' gradients; NaN where one vanishes
	At       []int     `json:"-"` // ascending steps; that after the last step is the end
	ARI      float64   // adjusted Rand index with the labels; NaN without labels
	End      float64   `json:",omitempty"` // the loss at the end of training
	// Unsettled says why the run has not converged, by the test of [Setup]; empty if it has.
	Unsettled string `json:",omitempty"`
	// Groups is how many groups of points the centres make at the end; 0 where it is not known.
	Groups int `json:",omitempty"`
	// Diverged reports whether the run ended because its loss exploded, or was no number any
	// more. It counts as worse than all others.
	Diverged bool `json:",omitempty"`
}

// Cost is what a training step takes. The zero value is a cost not measured.
type Cost struct {
	Nodes        int // of the compiled graph
	Instructions int // of the tape
	FLOPs        int64
	Peak         int     // bytes of memory in use at the fullest moment
	Params       int     `json:",omitempty"` // numbers that are trained; 0 where they are not counted
	Seconds      float64 // on the machine that wrote the report
}

// Drawing shows the graphs of the variants side by side.
type Drawing struct {
	SVG    string `json:"-"`          // one <svg> element without script or outside references
	Of     string `json:",omitempty"` // which graphs they are, such as "A and B"; empty for all variants
	Footer string // what differs in words, such as "B adds 2 boxes, drops 3, shares 12"
}

// Difference says what sets the first two variants apart, as mathematics. The
// report shows the spread beside it.
type Difference struct {
	Identity template.HTML `json:"-"` // inline HTML or MathML
	Words    string        // what it means; may be empty
	LaTeX    string
}

// Plane is the data in its first two principal components.
type Plane struct {
	Share  [2]float64 // of the variance along each axis, from 0 to 1
	Points [][2]float64
	Class  []int // of each point, an index into Data.Classes; nil without labels
}

// Sweep is a series of trainings with one setting varied.
type Sweep struct {
	Name    string // of the setting, such as "γ"
	Log     bool   // whether the values are spaced by factors
	Values  []float64
	Seeds   int         // whose median each result is; 0 if it is not known
	Inertia [][]float64 // of each variant at each value
	Loss    [][]float64
	ARI     [][]float64
	Moving  int `json:",omitempty"` // of all runs at all values: those that have not converged
}

// Made says how the numbers came about.
type Made struct {
	Command string // that writes this report again
	Version string // of the program and its settings
	Machine string // that the times were measured on
}
