package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"
	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestStepPage holds how the page is set, for a program that is written here, so that
// neither the compiler nor the processor has a say in it.
func TestStepPage(t *testing.T) {
	g := graph.New("page")
	x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("j", 2))
	α := ops.Softmax(x, "j").As("α")
	sum := ops.Sum(α, "i").As("s")
	values := func(n *graph.Node, v ...float64) inspect.Quantity {
		a, err := tape.ArrayOf(n.Type(), tape.Tensor(graph.Value{Type: n.Type(), Data: v}))
		if err != nil {
			t.Fatal(err)
		}
		return inspect.Quantity{Node: n, Value: a}
	}
	v := stepView{title: "page", place: "training step 4 · instruction 0 of 2", note: "stopped: α",
		rows: []tape.Row{
			{Op: "Softmax", Result: α.String(), In: []string{x.String()}, Scratch: true, Offset: 64, Bytes: 24, FLOPs: 12_345, Pos: graph.Pos{File: "m.go", Line: 7}, Scope: "assign", Node: α},
			{Op: "Sum", Result: sum.String(), In: []string{α.String()}, Sum: true, Offset: 128, FLOPs: 6, Node: sum},
		},
		stages: []tape.Stage{{Rows: 3, Block: 2, Parts: 2}},
	}
	out := values(α, 0.5, 0.5, math.NaN(), math.NaN(), 1, 0)
	out.Gradient, out.AsWritten, out.Slope = sum, true, values(sum, -1, 3).Value
	v.ins = &inspect.Instruction{Step: 4, Row: v.rows[0], Operands: []inspect.Quantity{values(x, 1, 1, math.Inf(1), math.Inf(1), 50, -50)}, Result: out, Owner: inspect.Quantity{Node: α}}
	v.see("in", v.ins.Operands[0])
	v.shown = 1
	v.see("out", out)
	const want = `training step 4 · instruction 0 of 2 · page
stopped: α

      ╭ 3 rows, 2 at a time, sums in 2 parts
▶   0 │     ~64  α[i=3 j=2] 12.3k  Softmax x[i=3 j=2]
    1 │     128+ s[j=2]         6  Sum α[i=3 j=2]
      ╰

αᵢⱼ = softmaxⱼ(xᵢⱼ)
Softmax · m.go:7 in assign · in scratch · 24 B · 12.3k FLOP

                      min     mean      max      std
 in   x[i=3 j=2]      -50      0.5       50     35.4   2 Inf ▄    █   ▄
▸out  α[i=3 j=2]        0      0.5        1    0.354   2 NaN ▄    █   ▄
  ∂*  s[j=2]           -1        1        3        2         █        █
      ∂* as the model is written: the program does not compute it by itself

α[i=0..2 j=0..1]
       j=0      1
i=0  0.500  0.500
1      NaN    NaN
2    1.000      0
`
	if got := v.page(); got != want {
		t.Errorf("the page is\n%s\nwant\n%s", got, want)
	}
}

// TestStepPrints: without a terminal the place is printed, the values from where they
// are asked for.
func TestStepPrints(t *testing.T) {
	for args, parts := range map[string][]string{
		"step kmeans-softmax --train 3 --node alpha --values 100,1": {"training step 3 · instruction ", "αᵢⱼ = softmaxⱼ(−γ·Dᵢⱼ)", "α[i=100..111 of 150 j=1..2 of 3]"},
		"step rnn-elman --break h_T --print":                        {"stopped: h_T"},
		"step rnn-elman --node loss --memory 10KiB":                 {"loss = mean_b"},
		"step kmeans-softmax --node loss --written":                 {"as written", "loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ", "▸out  loss[]"},
		"step rnn-elman --node h_T --iteration 4":                   {"iteration 4 of 5, time 4", "MatMul"},
		"step attention-self --break shape --print":                 {"▶"},
	} {
		got := ok(t, strings.Fields(args)...)
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("tapestry %s lacks %q:\n%s", args, p, got)
			}
		}
	}
}

// TestStepJSON finds a place by its number and by a break that holds there. Both give the same
// values, and a softmax sums to 1.
func TestStepJSON(t *testing.T) {
	at := func(args ...string) (v instructionJSON) {
		t.Helper()
		out := ok(t, append([]string{"step", "kmeans-softmax", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := at("--node", "α", "--train", "5")
	if v.Op != "Softmax" || v.Step != 5 || len(v.Result.Values) != 450 || v.Result.Gradient == nil || v.Owner != "α[i=150 j=3]" || v.Formula == "" {
		t.Errorf("%+v", v)
	}
	for i := 0; i < 450; i += 3 {
		if s := v.Result.Values[i] + v.Result.Values[i+1] + v.Result.Values[i+2]; s < 0.999 || s > 1.001 {
			t.Fatalf("row %d of α sums to %v", i/3, s)
		}
	}
	if w := at("--break", "alpha", "--train", "5"); w.Index != v.Index || w.Note != "stopped: α" || w.Result.Mean != v.Result.Mean {
		t.Errorf("the break stops at %d, %q", w.Index, w.Note)
	}
	if w := at("--at", fmt.Sprint(v.Index), "--train", "5"); w.Op != "Softmax" {
		t.Errorf("instruction %d is %s", v.Index, w.Op)
	}
	if w := at("--break", "step 2", "--back", "--train", "5"); w.Step != 2 || w.Index != w.Of-1 {
		t.Errorf("back at step %d, instruction %d", w.Step, w.Index)
	}
}

// TestStepJSONElsewhere: the place within a loop, and among the nodes of the model as it
// is written, are printed for machines, too.
func TestStepJSONElsewhere(t *testing.T) {
	at := func(args string) (v instructionJSON) {
		t.Helper()
		if err := json.Unmarshal([]byte(ok(t, strings.Fields(args+" --json")...)), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := at("step rnn-elman --node h_T --iteration 2:1")
	if v.Loop == nil || v.Loop.Number != 2 || v.Loop.Of != 5 || v.Index != 1 || v.Written || len(v.Result.Values) == 0 {
		t.Errorf("within the loop: %+v", v)
	}
	if w := at("step rnn-elman --node h_T --iteration 3:1"); w.Op != v.Op || w.Result.Mean == v.Result.Mean {
		t.Errorf("the next iteration has %s of mean %v, too", w.Op, w.Result.Mean)
	}
	v = at("step kmeans-softmax --node alpha --written")
	if !v.Written || v.Loop != nil || v.Op != "Softmax" || len(v.Result.Values) != 450 || v.Index >= v.Of {
		t.Errorf("as written: %+v", v)
	}
	if w := at("step kmeans-softmax --node alpha"); w.Written || w.Result.Mean != v.Result.Mean {
		t.Errorf("the program's has mean %v, as written it is %v", w.Result.Mean, v.Result.Mean)
	}
}

// TestStepLoss: above stands the loss of the program, finite though the formula as it
// is written has a log of 0 that the compiler's rules take away.
func TestStepLoss(t *testing.T) {
	file := written(t, "input x[i=9, d=2] ~ normal(0, 100)\nparam r[j=3, d] ~ normal(0, 100)\na[i,j] = softmax(-1000*sum((x - r)^2, d), j)\nloss = mean(-sum(a*log(a), j))\n")
	if code, out, _ := tapestry(t, "autopsy", file); code != 1 || !strings.Contains(out, "log of zero") {
		t.Fatalf("no logarithm of 0: %s", out)
	}
	out := ok(t, "step", file, "--print", "--node", "loss")
	if head, _, _ := strings.Cut(out, "\n"); strings.Contains(head, "NaN") || !strings.Contains(head, "· loss ") {
		t.Errorf("the heading is %s", head)
	}
}

// TestStepNarrow: a narrow terminal has whole columns of numbers, all of the help, and
// says how to leave.
func TestStepNarrow(t *testing.T) {
	m := opened(t, "rnn-elman")
	m.Update(tea.WindowSizeMsg{Width: 60, Height: 18})
	press(t, m, "g", "Wx", "<enter>")
	view := m.View()
	if strings.Contains(view, "std") || !strings.Contains(view, "max\n") || !strings.Contains(view, "? help  q quit") {
		t.Errorf("the screen is\n%s", view)
	}
	for _, line := range m.view.statistics(m.width) {
		if n := utf8.RuneCountInString(line); n > m.width && !strings.Contains(line, "∂* as") {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	press(t, m, "?")
	var read string
	for range 5 {
		if !m.help {
			break
		}
		fits(t, m)
		read += m.View()
		press(t, m, "<space>")
	}
	if m.help || !strings.Contains(read, "next instruction") || !strings.Contains(read, "q  quit") || !strings.Contains(read, "any key goes back") {
		t.Errorf("the help is\n%s", read)
	}
	press(t, m, "?")
	if !strings.Contains(m.View(), "next instruction") {
		t.Errorf("the second time the help is\n%s", m.View())
	}
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	press(t, m, "x", "x", "<enter>")
	if strings.Contains(m.status, "inspect:") || !strings.Contains(m.status, "is not a loop") {
		t.Errorf("the status is %q", m.status)
	}
	if view := m.View(); !strings.Contains(view, "std") {
		t.Errorf("the screen is\n%s", view)
	}
}

func TestStepMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"step":                                   "tapestry: step: want one model, got 0 (tapestry list shows the models)",
		"step kmeans-softmax --node alfa":        `tapestry: --node: break "alfa": the program has no quantity "alfa": it has `,
		"step kmeans-softmax --at 999":           "tapestry: --at: inspect: there is no instruction 999: the program has 0 to ",
		"step kmeans-softmax --at 1 --node r":    "tapestry: --at and --node exclude each other",
		"step kmeans-softmax --train -1":         "tapestry: --train -1: want 0 or more",
		"step kmeans-softmax --break |α|<x":      `tapestry: --break: break "|α|<x": want a number after <, as in loss < 0.4`,
		"step kmeans-softmax --values 1,x":       `tapestry: --values "1,x": want an index for each axis, as in 100,2`,
		"step kmeans-softmax --set n=5":          "tapestry: --set: kmeans-softmax is a clustering, which takes its sizes and its points from the data",
		"step rnn-elman --k 3":                   "tapestry: --k is for clusterings, and rnn-elman is none",
		"step kmeans-softmax --memory much":      `tapestry: invalid argument "much" for "--memory" flag: want a number of bytes, as in 4096, 512KiB or 1.5MiB`,
		"step kmeans-softmax --iteration 0":      "tapestry: --iteration: inspect: instruction 0, Neg, is not a loop",
		"step rnn-elman --iteration x":           `tapestry: --iteration "x": want its number, and perhaps that of an instruction, as in 3 or 3:2`,
		"step rnn-elman --iteration 1 --written": "tapestry: --iteration and --written exclude each other",
		"step kmeans-sofmax":                     `tapestry: unknown model "kmeans-sofmax": did you mean "kmeans-softmax"? (tapestry list shows all)`,
	} {
		code, out, errOut := tapestry(t, strings.Fields(args)...)
		if code != 2 || out != "" || !strings.HasPrefix(errOut, want) {
			t.Errorf("tapestry %s: exit code %d, printed %q and %q, want %q", args, code, out, errOut, want)
		}
	}
}

// TestStepToDerivatives: the derivative of the loss by whatever is trained has a name in
// every model, also where rewriting took it into something else.
func TestStepToDerivatives(t *testing.T) {
	names := builders.Names()
	if testing.Short() {
		names = []string{"kmeans-softmax", "kmeans-goofy", "attention-self", "rnn-lstm", "regression-ols", "graph-gcn", "autoencoder-linear", "norm-batch"}
	}
	tried := 0
	for _, name := range names {
		var s stepping
		cmd := &cobra.Command{}
		cmd.SetContext(t.Context())
		s.training.flags(cmd)
		s.learning.flags(cmd)
		session, _, err := s.open(cmd, &options{}, name)
		if err != nil {
			continue // a model without a loss, or without examples
		}
		b, err := lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.Build(nil, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range lab.Trained(m) {
			text := "∂" + m.Loss.Label() + "/∂" + p.Name()
			if err := seekText(session, text); err != nil {
				t.Errorf("%s: %v", name, err)
			} else {
				tried++
			}
		}
		if err := seekText(session, "∂loss/∂nothing"); err == nil {
			t.Errorf("%s has ∂loss/∂nothing", name)
		}
		session.Close()
	}
	if tried < len(names) {
		t.Errorf("only %d derivatives of %d models", tried, len(names))
	}
}

// TestValuesThatAreNotThere: indices of values that a place does not have are refused, not moved.
func TestValuesThatAreNotThere(t *testing.T) {
	for at, want := range map[string]string{
		"900,1": "tapestry: --values: there is no index 900 along axis 1 of α[i=150 j=3]\n",
		"1,1,1": "tapestry: --values: want an index for each axis of α[i=150 j=3], not 3\n",
	} {
		if code, _, errOut := tapestry(t, "step", "kmeans-softmax", "--print", "--node", "alpha", "--values", at); code != 2 || errOut != want {
			t.Errorf("--values %s: exit code %d, %q, want %q", at, code, errOut, want)
		}
	}
}
