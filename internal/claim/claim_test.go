package claim

import (
	"strings"
	"testing"
)

// check reads and checks one claim.
func check(t *testing.T, c *Checker, text string) (Claim, error) {
	t.Helper()
	cl, err := Parse(text)
	if err != nil {
		return cl, err
	}
	return cl, c.Check(t.Context(), cl)
}

// TestTrueClaims checks claims that hold, one for each thing that a claim can say.
func TestTrueClaims(t *testing.T) {
	c := &Checker{}
	for _, test := range []struct {
		kind Kind
		text string
	}{
		{Equation, "kmeans-softmax: α[i,j] = softmax(−γ·D, j)"},
		{Equation, "kmeans-softmax: alpha[i,j] = softmax(-gamma*D, j)"},
		{Equation, "kmeans-softmax: α[p,c] = softmax(−γ·D[p,c], c) and loss = mean(sum(α[p,c]·D[p,c], c), p)"},
		{Equation, "kmeans-softmax: diff[i,j,d] = x − r and D[i,j] = sum(diff², d)"},
		{Equation, "kmeans-goofy: ∂loss/∂r̂[i,d] = 2/size(i)·(r̂ − x)"},
		{Equation, "kmeans-lloyd: r'[j,d] = where(count == 0, r, sum(x·member, i)/count)"},
		{Equation, "regression-ols by smoothed-momentum(0.1): w'[d] = w − 0.1·v/w' and v/w'[d] = 0.9·v/w + 0.1·∂loss/∂w"},
		{Equation, "rnn-elman: recurrent/h[b,t,h] = tanh(Wx[b,t,h] + dot(hidden/w[k,h], recurrent/h[b,t−1,k], k))"},
		{Equation, "conv-2d: h₁[n,i,j,o] = relu(dot(conv1/w[a,e,c,o], x[n,i+a−1,j+e−1,c], a, e, c) + conv1/b[o])"},
		{Equation, "attention-multihead: heads[b,t,4h+e] = dot(α[b,h,t,s], v[b,h,s,e], s)"},
		{Equation, "regression-ols by sgd(0.1, clip-norm 1): w'[d] = w − 0.1·∂loss/∂w/(norm(∂loss/∂w, d) + 1e-6)"},
		{Equation, "regression-ols by sgd(0.1, weight-decay 0.5): w'[d] = w − 0.1·(∂loss/∂w + 0.5·w)"},
		{Equation, "position-added: clock/PE[t,2h:4+0] = sin(at(t)·10000^(−at(h)/4))"},
		{Equation, "attention-dot: [a; s][b,d+0] = a and [a; s][b,d+6] = s"},
		{Experiment, "kmeans-softmax: 149 < Δ.i ≤ 150 and Δ.3 == 4 and Δ.3 ≈ 4.1 and Δ.3 ≠ 4.1"},
		{Experiment, "init after 0 steps: loss > 0"},
		{Experiment, "resnet: parameters ≠ parameters of resnet{depth=1}"},
		{Experiment, "regression-ols by adam(0.1) after 50 steps on one batch with w=0: loss < 0.5"},
		{Experiment, "regression-ols with w=0: max(abs(w)) < 1e-12"},
		{Experiment, "regression-ols after 0 steps with w=3: min(w) ≈ 3"},
	} {
		if cl, err := check(t, c, test.text); err != nil {
			t.Error(err)
		} else if cl.Kind != test.kind {
			t.Errorf("%s is of kind %v, want %v", test.text, cl.Kind, test.kind)
		}
	}
}

// TestFalseClaims checks that what does not hold fails, and says what the model has.
func TestFalseClaims(t *testing.T) {
	c := &Checker{}
	for _, test := range []struct{ text, want string }{
		{"kmeans-softmax: α[i,j] = softmax(γ·D, j)", "kmeans-softmax: α[i,j] = softmax(γ·D, j)\n    α[i,j] = softmax(γ·D, j): at i=0 j=0 the model has 0.00287044, the claim 0.909692; the graph derives αᵢⱼ = softmaxⱼ(−γ·Dᵢⱼ)"},
		{"regression-ols by momentum(0.1): v/w'[d] = 0.9·v/w + 0.1·∂loss/∂w", "at d=0 the model has -40.6615, the claim -3.36007; the graph derives "},
		{"conv-text: c₁[n,t,f] = tanh(dot(filters1/w[a,d,f], x[n,t+a,d], a, d) + filters1/b[f])", "the graph derives c₁_{ntf} = relu(convₜ(xₙₜ, w_f) + b_f)"},
		{"resnet: 2 == 2.00001", "2 == 2.00001: the left side of == is 2, the right side 2.00001"},
		{"kmeans-softmax: Δ.3 = 4", `"Δ.3 = 4": the left side is a number, which is compared by ==, ≈, < or >`},
		{"resnet: 2 > 3", "2 > 3: the left side of > is 2, the right side 3"},
		{"kmeans-softmax: D[i,j] = D[i,j]", "both sides have D[i,j]"},
		{"kmeans-softmax: x[i,d] = x·1", `"x[i,d] = x·1": x[i=150 d=4] is no computed quantity`},
		{"kmeans-softmax: mine[i] = sum(D, j)", "nothing is claimed: only names are defined that the model does not have"},
		{"kmeans-softmax with r=0 with x=0: D[i,j] = sum((x − r)², d)", "D[i,j] = sum((x − r)², d): the left side is 0 everywhere, which no equation tells from a mistake"},
		{"kmeans-softmax: D[i] = sum((x − r)², d)", "[i] has 1 subscripts, but D has the axes [i=150 j=3]"},
		{"kmeans-softmax: α[d,j] = r[j,d]", "index d is of size 150, but of size 4 in r[j,d]: call one of them otherwise, in brackets"},
		{"kmeans-softmax: r'[j,d] = x", "no step of kmeans-softmax changes r[j=3 d=4]: say by OPTIMISER(RATE)"},
		{"kmeans-softmax: ∂D/∂r[j,d] = r", "no number: only numbers have a derivative here"},
		{"attention-self: w[a,b] = x", "w is the name of several quantities of attention-self: key/w, query/w, value/w"},
		{"kmeans-softmax: D[i,j] = sum((x − centre)², d)", "unknown quantity centre"},
		{"kmeans-softmax: loss < loss% of kmeans-goofy", "kmeans-goofy has no quantity loss%"},
		{"kmeans-softmax: loss < size of kmeans-goofy", "kmeans-goofy has no quantity size"},
		{"kmeans-softmax{cats=3}: loss > 0", "cats"},
		{"nothing: loss > 0", "nothing"},
		{"kmeans-softmax by walking(1): loss > 0", "walking"},
		{"regression-ols by sgd(0.1, haste 2): loss > 0", "an optimiser with haste 2: want one of clip-norm, clip-value, ema, epsilon, smoothing, weight-decay and a number"},
		{"kmeans-softmax: D[i,j] = at(q)·γ", "nothing says how large index q is: it never stands alone"},
		{"regression-ols by sgd(0.1, clip-norm 1): w'[d] = w − 0.1·∂loss/∂w/norm(∂loss/∂w, d)", "the model has 0.511521476, the claim 0.511521478"},
		{"kmeans-softmax loss > 0", `want a colon and a statement instead of "loss > 0", or a condition: by OPTIMISER(RATE), after N steps, on one batch, with NAME=NUMBER`},
		{"Softmax: loss > 0", `"Softmax: loss > 0" begins with no model: want MODEL: STATEMENT, or test TestX: SENTENCE`},
		{"kmeans-softmax: loss", `"loss" states nothing: want an equation or a comparison`},
		{"kmeans-softmax: D[p+q,j] = sum(r, d)", "nothing says how large index p in D[p+q,j] is: it never stands alone"},
		{"kmeans-softmax: D[i,j·2] = x", `subscript "j·2": want a sum such as 2i+a−1`},
	} {
		if _, err := check(t, c, test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got the error\n%v\nwant\n%s", test.text, err, test.want)
		}
	}
}

// TestClaimedTests checks claims that name a test of this module. Claim: a row and the comment of
// its test say the same words.
func TestClaimedTests(t *testing.T) {
	c := &Checker{}
	if err := c.Tests("."); err != nil {
		t.Fatal(err)
	}
	c.tests["TestNow"] = []test{{"TestNow waits. Claim: it waits", true}}
	c.tests["TestTwice"] = make([]test, 2)
	c.tests["lab.TestTwice"] = []test{{"TestTwice: it holds.", false}}
	c.tests["TestPlain"] = []test{{"TestPlain: two and two are four.", false}}
	for _, test := range []struct{ text, want string }{
		{"test TestClaimedTests: a row and the comment of its test say the same words", ""},
		{"test TestClaimedTests: a row says anything", `must end with "Claim: a row says anything."`},
		{"test TestTrueClaims: it holds", `must end with "Claim: it holds."`},
		{"test TestPlain: two and two are four", ""},
		{"test TestPlain: two and two are five", `the comment of TestPlain says "TestPlain: two and two are four."`},
		{"test lab.TestTwice: it holds", ""},
		{"test TestTwice: it holds", "2 tests are called TestTwice: name its folder, as in train/data.TestOrder"},
		{"test TestMissing: it holds", "there is no test TestMissing"},
		{"test TestNow: it waits", "TestNow may be skipped"},
	} {
		_, err := check(t, c, test.text)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got the error %v, want %q", test.text, err, test.want)
		}
	}
}

// TestRows reads a page.
func TestRows(t *testing.T) {
	rows, err := Rows("# Map\n## One\n" + header + "\n|---|---|---|\n| a | builder `b` | `m: x > 0` and `m: y > 0` |\n\n| other | table |\n|---|---|\n| c | d |\n### Two\n" + header + "\n|---|---|---|\n| e | f | |\n")
	if err != nil || len(rows) != 2 {
		t.Fatalf("got %v, %v; want two rows", rows, err)
	}
	if r := rows[0]; r.Section != "One" || r.Topic != "a" || r.Where != "builder `b`" || strings.Join(r.Claims, ";") != "m: x > 0;m: y > 0" {
		t.Errorf("got %+v", r)
	}
	if r := rows[1]; r.Section != "Two" || len(r.Claims) != 0 {
		t.Errorf("got %+v", r)
	}
	if _, err := Rows(header + "\n| a | b |\n"); err == nil || err.Error() != `"| a | b |" has 2 cells, want a topic, where it is, and what is claimed` {
		t.Errorf("got %v", err)
	}
}
