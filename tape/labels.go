package tape

import (
	"fmt"
	"runtime/pprof"
	"strings"
)

// Labels makes a VM label its goroutines while they run, so that a CPU profile can be split by
// stage (go tool pprof -tags, -tagfocus): tapestry_graph is the name of the graph, tapestry_stage
// the number of the stage in the listing and its operations. Labels of Run's context are kept
// beside them, and restored afterwards. A run then allocates a little for each stage.
func Labels() VMOption { return func(o *vmOptions) { o.labels = true } }

// stageLabels returns the labels of each stage.
func (p *Program) stageLabels() []pprof.LabelSet {
	sets := make([]pprof.LabelSet, len(p.stages))
	for i := range sets {
		sets[i] = pprof.Labels("tapestry_graph", p.source.Name(), "tapestry_stage", p.stageText(i))
	}
	return sets
}

// stageText names a stage by its number and its operations. Of many, only the first and the last
// are named.
func (p *Program) stageText(i int) string {
	const many = 6
	var names []string
	for _, st := range p.stages[i].steps {
		names = append(names, p.instrs[st.ins].name)
	}
	if n := len(names); n > many {
		names = append(append(names[:many/2:many/2], "…"), names[n-many/2:]...)
	}
	return fmt.Sprintf("%d %s", i, strings.Join(names, " "))
}
