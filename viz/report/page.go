package report

import "html/template"

// Page has the results of a comparison. If no run has an inertia, the variants are not
// clusterings and are judged by their loss. Only variants with runs are required; sections
// without data are left out of the file. Slices are read, never changed.
type Page struct {
	Title      string // the heading; by default the variants' names and the data's
	Data       Data
	Setup      Setup
	Variants   []Method // the objectives compared
	Baselines  []Method // other methods for the same task; the first sets the level to reach
	Drawing    Drawing
	Drawings   []Drawing `json:",omitempty"` // of further pairs, if there are more than two variants
	Difference Difference
	// Gradients shows how the gradients of two variants differ, Weights what flows through the weights
	// of a clustering, and Stationary where gradients vanish.
	Gradients  []Gradients  `json:",omitempty"`
	Weights    []Weights    `json:",omitempty"`
	Stationary []Stationary `json:",omitempty"`
	Plane      Plane
	// Between is the agreement of the best runs, a symmetric matrix: the adjusted Rand index (Hubert
	// and Arabie, 1985) of the assignments of methods i and j, variants first and then baselines.
	Between [][]float64
	Sweeps  []Sweep
	// Task says in words what the variants were trained on, if not on the data, and for which of
	// them it is the same.
	Task string `json:",omitempty"`
	// Pairs compares the final losses of variants that can be compared.
	Pairs []Pair `json:",omitempty"`
	// Matrix has the results at several settings, and how the variants measure by each other's
	// metrics.
	Matrix Matrix `json:",omitempty"`
	Live   Live   `json:"-"`
	Made   Made
}

// Pair is the difference of two variants' final losses, B's minus A's, paired by seed.
type Pair struct {
	A, B   int     // indices of variants
	Mean   float64 // over the seeds
	Error  float64 // standard error of the mean; NaN for one seed
	Beyond bool    // whether the difference exceeds the noise
	Half   float64 `json:",omitempty"` // half of the 95 % interval, Mean ± Half
	P      float64 `json:",omitempty"` // p-value of the difference, corrected for the number of pairs
}

// Data describes the data that the methods were trained on.
type Data struct {
	Name     string
	Rows     int      // that were trained on
	Held     int      `json:",omitempty"` // rows that were held out of training
	Prepared string   `json:",omitempty"` // in words: what was done to the rows before training
	Features []string // names of the columns
	Classes  []string // names of the labels; none without labels
	Scale    float64  `json:",omitempty"` // the root mean squared distance of a row from the mean of all; 0 if not known
}

// Setup has the settings that all variants share.
type Setup struct {
	K         int       // number of centres
	Steps     int       // number of training steps
	Optimiser string    // in words, such as "Adam, rate 0.05"
	Start     string    // in words: how the centres are initialised
	Schedule  string    // in words: how γ changes
	Gamma     []float64 `json:"-"`
	Baselines string    `json:",omitempty"` // in words: how the baselines were trained
	Angle     string    `json:",omitempty"` // the two objectives of [Run.Angle]; empty if they are all that is compared
	Test      string    // for convergence, in words; empty if no run was tested
}

// Method is a way to find centres, or another model, with its runs.
type Method struct {
	Name string
	// Formula is the objective, and Chain derives its gradient, each line from the ones before. Both
	// are inline HTML or MathML.
	Formula template.HTML `json:"-"`
	Chain   []Equation    `json:"-"`
	LaTeX   string        // source of Formula and Chain
	Runs    []Run
	// Centres are the final centres of the best run, [k features]. Row j of every method is the same
	// centre as nearly as possible.
	Centres [][]float64
	// Paths are the paths of the best run's centres in the plane, from the start, with the same
	// entries as its Inertia.
	Paths [][][2]float64 `json:"-"`
	// Assigned has the centre of the best run, in the order of Paths, that is nearest to each point of
	// the plane, at all [Stops] of the training; nil if it is not known.
	Assigned []Assignment `json:"-"`
	// Counts has the number of points of the best run by class and centre, [classes k].
	Counts [][]int
	// Optima has the different groupings in which runs came to rest, the one of least inertia first;
	// nil if they are not known.
	Optima []Optimum `json:",omitempty"`
	// Held has the inertia of every run's final centres on the rows held out; nil without such rows.
	Held []float64 `json:",omitempty"`
	Cost Cost
}

// Optimum is a grouping of the points in which some runs of a method came to rest.
type Optimum struct {
	Inertia float64
	Runs    int
}

// Equation is a line of a derivation.
type Equation struct {
	Math template.HTML // inline HTML or MathML
	Why  string        // the rule that justifies it; may be empty
}

// Run is one training from one seed. Curves have an entry for each step, measured before the
// step, and perhaps one more for the end. The entries of Inertia, Spread and Angle belong to the
// steps At, if that is not nil. A curve that was not measured is nil. The result of the run is
// the last entry of Inertia or, on a page where no run has any, End.
type Run struct {
	Seed     uint64
	Loss     []float64 `json:"-"` // the method's own objective
	Inertia  []float64 `json:"-"` // Σ_i min_j ‖x_i − r_j‖², of the hard assignment
	Spread   []float64 `json:"-"` // mean_i Σ_j α_ij ‖r_j − r̂_i‖²
	Movement []float64 `json:"-"` // √Σ_j ‖Δr_j‖²
	Angle    []float64 `json:"-"` // degrees between the objectives' gradients; NaN where one vanishes
	At       []int     `json:"-"` // ascending steps; the one after the last step is the end
	ARI      float64   // adjusted Rand index with the labels; NaN without labels
	End      float64   `json:",omitempty"` // the loss at the end of training
	// Unsettled says why the run has not converged by the test of [Setup]; empty if it has.
	Unsettled string `json:",omitempty"`
	// Groups is the number of groups of points that the final centres make; 0 if not known.
	Groups int `json:",omitempty"`
	// Diverged reports whether the run ended because its loss exploded or became NaN. It counts as
	// worse than all others.
	Diverged bool `json:",omitempty"`
}

// Cost measures a training step. The zero value means that it was not measured.
type Cost struct {
	Nodes        int // of the compiled graph
	Instructions int // of the tape
	FLOPs        int64
	Peak         int     // largest number of bytes in use at once
	Params       int     `json:",omitempty"` // number of trained numbers; 0 if not counted
	Seconds      float64 // on the machine that wrote the report
}

// Drawing shows the graphs of the variants side by side.
type Drawing struct {
	SVG    string `json:"-"`          // one <svg> element without script or references outside the page
	Of     string `json:",omitempty"` // names of the graphs, such as "A and B"; empty for all variants
	Footer string // the differences in words, such as "B adds 2 boxes, drops 3, shares 12"
}

// Difference states the mathematical difference of the first two variants. The report shows the
// spread beside it.
type Difference struct {
	Identity template.HTML `json:"-"` // inline HTML or MathML
	Words    string        // its meaning; may be empty
	LaTeX    string
}

// Plane is the data in its first two principal components.
type Plane struct {
	Share  [2]float64 // share of the variance along each axis, from 0 to 1
	Points [][2]float64
	Class  []int // by point: an index into Data.Classes; nil without labels
}

// Sweep is a series of trainings with one setting varied.
type Sweep struct {
	Name    string // name of the setting, such as "γ"
	Log     bool   // whether the values are spaced by factors
	Values  []float64
	Seeds   int         // number of seeds whose median each result is; 0 if not known
	Inertia [][]float64 // of each variant at each value
	Loss    [][]float64
	ARI     [][]float64
	Spread  [][]float64 `json:",omitempty"`
	Entropy [][]float64 `json:",omitempty"` // mean entropy of the weights of a point, in nats
	Reach   [][]float64 `json:",omitempty"` // root mean squared distance of the centres from the data's mean, in units of its scale
	Minima  [][]float64 `json:",omitempty"` // number of different minima that descents from many starts came to
	Starts  int         `json:",omitempty"` // number of these starts
	Moving  int         `json:",omitempty"` // number of runs at all values that have not converged
	Ends    [][]End     `json:"-"`          // of each variant, the best run at each value; nil if they are not known
}

// End is where a training of a sweep ended.
type End struct {
	Seed      uint64
	Inertia   float64
	Loss      float64
	Spread    float64
	Unsettled bool         // whether it has not converged
	At        [][2]float64 // the centres in the plane
	Nearest   []int        // the centre that is nearest to each point of the plane; nil if it is not known
}

// Made says how the numbers were produced.
type Made struct {
	Command string // that writes this report again
	Version string // of the program and its settings
	Machine string // that the times were measured on
}
