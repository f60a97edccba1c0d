package notation

import (
	"errors"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// head declares the quantities that the mistakes below are about.
const head = "input x[i=150, d=4]\nparam r[j=3, d]\nscalar gamma = 1\n"

// mistakes has files with the errors that they cause.
var mistakes = []struct{ text, want string }{
	{"index k[i=2] ~ integers(1e30)\ny = mean(float(k))", `k.tapestry:1:25: integers of 1e+30: want a whole number from 1 to 9007199254740991
    index k[i=2] ~ integers(1e30)
                            ^~~~`},
	{"input k[i=2] ~ integers(3)\ny = mean(k)", `k.tapestry:1:16: k holds numbers, not indices: an input of indices is declared by index
    input k[i=2] ~ integers(3)
                   ^~~~~~~~~~~`},
	{head + "D[i,j] = (x - r)^2", `k.tapestry:4:10: D has axes [i,j,d], but [i,j] are stated: sum over d? (x[i,d] − r[j,d] spans i, j, d)
    D[i,j] = (x - r)^2
             ^~~~~~~~~`},
	{head + "loss = mean(sum((x - r)^2, d), i)", `k.tapestry:4:8: loss has axes [j], but no axes are stated: sum over j? (x[i,d] − r[j,d] spans i, j, d)
    loss = mean(sum((x - r)^2, d), i)
           ^~~~~~~~~~~~~~~~~~~~~~~~~~`},
	{head + "D[i,j] = sum(x^2, d)", `k.tapestry:4:10: D has axes [i], but [i,j] are stated: state D[i]? (nothing on the right has j)
    D[i,j] = sum(x^2, d)
             ^~~~~~~~~~~`},
	{head + "e[i,k] = sum(x, d)*x[i→j]", `k.tapestry:4:10: e has axes [i,j,d], but [i,k] are stated: should j be called k, as in x[j→k]? (sum(x, d) · x[j,d] spans i, j, d)
    e[i,k] = sum(x, d)*x[i→j]
             ^~~~~~~~~~~~~~~~`},
	{head + "D[i,j] = sum((x - r)^2, d)\nalpha[i,j] = softmax(-gama*D, j)\nloss = mean(D, k)", `k.tapestry:5:23: unknown quantity gama: did you mean gamma?
    alpha[i,j] = softmax(-gama*D, j)
                          ^~~~
k.tapestry:6:16: D has no axis k (it has axes [i,j])
    loss = mean(D, k)
                   ^`},
	{head + "y = softmux(x, d)\nz = mean(x)*r", `k.tapestry:4:5: unknown function softmux: did you mean softmax?
    y = softmux(x, d)
        ^~~~~~~
k.tapestry:5:5: z has axes [j,d], but no axes are stated: sum over j, d? (r[j,d] has j, d)
    z = mean(x)*r
        ^~~~~~~~~`},
	{"input x[i=150, d]", `k.tapestry:1:16: axis d has no size: state it where the axis first occurs, as in d=4
    input x[i=150, d]
                   ^`},
	{head + "param v[d=5]\ny = mean(x)", `k.tapestry:4:9: axis d has size 4 at line 1, not 5: state the size once
    param v[d=5]
            ^~~`},
	{head + "D = mean(E)\nE = mean(x)\nF = F + 1\nE = 2", `k.tapestry:4:10: E is defined below: move its line up (line 5)
    D = mean(E)
             ^
k.tapestry:6:5: F is defined by itself
    F = F + 1
        ^
k.tapestry:7:1: E is already defined: choose another name (as E at line 5)
    E = 2
    ^`},
	{head + "γ = mean(x)", `k.tapestry:4:1: γ is already defined: choose another name (as gamma at line 3)
    γ = mean(x)
    ^`},
	{head + "y = mean(2 x)\nz = mean(x", `k.tapestry:4:12: want ) after the arguments of mean, found x: a product has its sign, 2*x
    y = mean(2 x)
               ^
k.tapestry:5:11: want ) after the arguments of mean, the line ends
    z = mean(x
              ^`},
	{head + "y = mean(x) $ 2\nparm w[d]\nr <- x", `k.tapestry:4:13: $ means nothing here
    y = mean(x) $ 2
                ^
k.tapestry:5:1: no statement starts with parm: did you mean param?
    parm w[d]
    ^~~~
k.tapestry:6:1: r cannot be updated: a parameter is the optimiser's: make it a state at line 2
    r <- x
    ^`},
	{head + "y[i] = argmin(x, d)\nz = mean(y)\nw = sum(x > 0)", `k.tapestry:5:10: y is indices: want numbers: convert them with float(…), onehot(…, axis) vectors, take(x, …, axis) elements of x
    z = mean(y)
             ^
k.tapestry:6:9: x > 0 is a mask: want numbers: float(…) makes 0 and 1 of it, where(…, a, b) chooses by it
    w = sum(x > 0)
            ^~~~~`},
	{head + "y[i,d] = conv(x, r[d→k], i, d, k)\nz[i,d] = conv(x, r[d→k], j, d)\nu[i,d] = maxpool(x, 0.5, d)\nv[i,d] = avgpool(x, 3, k)", `k.tapestry:4:26: r[d→k] has no axis i (it has axes [j,k])
    y[i,d] = conv(x, r[d→k], i, d, k)
                             ^
k.tapestry:5:10: conv is called with 4 arguments: write conv(x, w, c, axis, window, …) (Σ x·w over channels c and the window around each element, 0 outside)
    z[i,d] = conv(x, r[d→k], j, d)
             ^~~~~~~~~~~~~~~~~~~~~
k.tapestry:6:21: windows of size 0.5: want a whole number from 1 to 1048576
    u[i,d] = maxpool(x, 0.5, d)
                        ^~~
k.tapestry:7:24: x has no axis k (it has axes [i,d])
    v[i,d] = avgpool(x, 3, k)
                           ^`},
	{head + "loss[i] = sum(x, d)", `k.tapestry:4:1: loss has axes [i], and a loss is one number: mean over i?
    loss[i] = sum(x, d)
    ^~~~`},
	{head + "y[i] = x[i,k]", `k.tapestry:4:12: x has no axis k: to call d k here, write x[d→k] (it has axes [i,d])
    y[i] = x[i,k]
               ^`},
	{head + "y = d*mean(x) = 2", `k.tapestry:4:15: want the end of the line, found =: equality is ==
    y = d*mean(x) = 2
                  ^`},
	{head + "y = mean(x)/d", `k.tapestry:4:13: unknown quantity d: it is an axis: size(d) is its size
    y = mean(x)/d
                ^`},
	{head + "y = normal(0, 1)", `k.tapestry:4:5: normal draws examples: use it after the ~ of an input
    y = normal(0, 1)
        ^~~~~~~~~~~~`},
	{"index a[i=3]\ny = mean(float(a))", `k.tapestry:1:7: nothing says which indices a may hold: ~ integers(size(j)), or ~ integers(3)
    index a[i=3]
          ^`},
	{"param w[i=3] ~ normal(0)\ny = mean(w)", `k.tapestry:1:16: initialiser "normal(0)": want 2 numbers
    param w[i=3] ~ normal(0)
                   ^~~~~~~~~`},
	{"notation 2\nloss = 1", `k.tapestry:1:10: notation 2 is unknown: this program reads notation 1
    notation 2
             ^`},
	{"input x[i=100000000, j=100000000]\ny = mean(x)", `k.tapestry:1:7: x has more than 134217728 elements
    input x[i=100000000, j=100000000]
          ^`},
	{"input x[i=3]\nparam w[j=2]\ny = mean(x[i→j]*w)", `k.tapestry:3:12: i=3 cannot be called j=2: give them one size, as in j=i
    y = mean(x[i→j]*w)
               ^~~`},
	{"# nothing", `k.tapestry:1:10: nothing is computed: define a quantity, as in loss = mean(x^2)
    # nothing
             ^`},
	{"objective \"open\ny = 1", `k.tapestry:1:11: the title has no end: close it with "
    objective "open
              ^~~~~`},
	{"\tŷ = 1\n\tz = r̂ + ŷ", "k.tapestry:2:6: unknown quantity r̂: did you mean ŷ?\n    \tz = r̂ + ŷ\n    \t    ^"},
	{head + "D[i,j] = ||x-r||^2", `k.tapestry:4:10: | means nothing here: an absolute value is abs(x), a length norm(x, axis), its square sum(x^2, axis)
    D[i,j] = ||x-r||^2
             ^`},
	{head + "D[i,j] = sum(x)^2", `k.tapestry:4:10: D has no axes, but [i,j] are stated: state D alone, as one number? (nothing on the right has i, j)
    D[i,j] = sum(x)^2
             ^~~~~~~~`},
	{head + "loss = mean(x[i] - r[j])", `k.tapestry:4:13: x has axes [i,d]: write x, or reduce it, as in sum(x, d)
    loss = mean(x[i] - r[j])
                ^~~~
k.tapestry:4:20: r has axes [j,d]: write r, or reduce it, as in sum(r, d)
    loss = mean(x[i] - r[j])
                       ^~~~`},
	{head + "loss = mean(sum((x - r)^2, d))", `k.tapestry:4:8: mean over all axes, but no one quantity has all of i, j: if they are meant, name them: mean(…, i, j) (x[i,d] − r[j,d] spans i, j, d)
    loss = mean(sum((x - r)^2, d))
           ^~~~~~~~~~~~~~~~~~~~~~~`},
	{head + "D[i,k] = sum((x - r)^2, d)", `k.tapestry:4:10: D has axes [i,j], but [i,k] are stated: should j be called k, as in x[j→k]? (x[i,d] − r[j,d] spans i, j, d)
    D[i,k] = sum((x - r)^2, d)
             ^~~~~~~~~~~~~~~~~`},
	{"input x[10]\ny = mean(x)", `k.tapestry:1:9: want the name of an axis, found 10: axes have names, as in [i=10]
    input x[10]
            ^~`},
	{head + "y = mean(float(searchsorted(x, x, d)))", `k.tapestry:4:29: x has i beside axis d: want one row of limits
    y = mean(float(searchsorted(x, x, d)))
                                ^`},
	{head + "index a[i] ~ integers(3)\ny = mean(take(x + 1, a, d))", `k.tapestry:5:10: x + 1 and a both have axis i: one element for each i is sum((x + 1)*onehot(a, d), d)
    y = mean(take(x + 1, a, d))
             ^~~~~~~~~~~~~~~~~`},
	{"y =\u00a01", "k.tapestry:1:4: the invisible character U+00A0 means nothing here\n    y =\u00a01\n       ^"},
	{"objective “title”\ny = 1", `k.tapestry:1:11: “ means nothing here: a title stands in "
    objective “title”
              ^`},
	{"y = \xff", "k.tapestry:1:5: a byte that is no UTF-8 means nothing here\n    y = \uFFFD\n        ^"},
	{"input x[i=9, d=5]\nparam w[d]\np[i] = dot(x, w, d) + q\nq = mean(s)\ns[i] = 2*p\nloss = mean(s)", `k.tapestry:3:23: p is defined by itself, by way of q, s: break the cycle (q at line 4)
    p[i] = dot(x, w, d) + q
                          ^
k.tapestry:4:10: q is defined by itself, by way of s, p: break the cycle (s at line 5)
    q = mean(s)
             ^`},
	{head + "y = mean(X) + λ*sum(r)", `k.tapestry:4:10: unknown quantity X: did you mean x?
    y = mean(X) + λ*sum(r)
             ^
k.tapestry:4:15: unknown quantity λ (known are x, r, gamma)
    y = mean(X) + λ*sum(r)
                  ^`},
	{"input x[i=9, d=5] ~ normal(0 1)\nparam w[d] % weights\nloss = mean(dot(x, w, d)) + q", `k.tapestry:1:30: want ) after the arguments of normal, found 1: arguments have commas between them
    input x[i=9, d=5] ~ normal(0 1)
                                 ^
k.tapestry:2:12: % means nothing here: a comment starts with #
    param w[d] % weights
               ^
k.tapestry:3:29: unknown quantity q (known are x, w)
    loss = mean(dot(x, w, d)) + q
                                ^`},
	{"x[i=9, d=5]\nparam w[d]\ny = sum(w)", `k.tapestry:1:3: a size is stated where an input, a parameter or a state is declared: begin the line with input, param or state
    x[i=9, d=5]
      ^~~`},
	{"y[i=9] = 2", `k.tapestry:1:3: a size is stated where an input, a parameter or a state is declared: state i alone
    y[i=9] = 2
      ^~~`},
	{"input x[i=9 d=5]\nInput y[d]\n// loss\nz = mean(x)", `k.tapestry:1:13: want ] after the axes, found d: axes have commas between them
    input x[i=9 d=5]
                ^
k.tapestry:2:1: no statement starts with Input: did you mean input?
    Input y[d]
    ^~~~~
k.tapestry:3:1: // means nothing here: a comment starts with #
    // loss
    ^~`},
	{head + "y = sum(x, axis=d)\nz = max(0, 1 - x)\nw = min(x, r)", `k.tapestry:4:16: want ) after the arguments of sum, found =: an axis is named alone, as in sum(x, d)
    y = sum(x, axis=d)
                   ^
k.tapestry:5:12: 1 - x is no axis: for two values, write maximum(a, b)
    z = max(0, 1 - x)
               ^~~~~
k.tapestry:6:12: x has no axis r: for two values, write minimum(a, b) (it has axes [i,d])
    w = min(x, r)
               ^`},
	{head + "y = mean(log softmax(x, d))\nz = matmul(x, r, d)\nw = sum(x d)\nv = if x > 0", `k.tapestry:4:14: want ) after the arguments of mean, found softmax: write log(x)
    y = mean(log softmax(x, d))
                 ^~~~~~~
k.tapestry:5:5: unknown function matmul: a matrix product is dot(a, b, axis)
    z = matmul(x, r, d)
        ^~~~~~
k.tapestry:6:11: want ) after the arguments of sum, found d: arguments have commas between them, and a product its sign, x*d
    w = sum(x d)
              ^
k.tapestry:7:8: want the end of the line, found x: where(mask, a, b) is a where the mask is true, else b
    v = if x > 0
           ^`},
	{head + "y = mean(\n(x - r)^2, i, j, d)\nz = mean(x))", `k.tapestry:4:10: want a value, the line ends: within brackets an indented line continues the one above
    y = mean(
             ^
k.tapestry:5:1: want a statement, found (: it starts with a name, or with notation, objective, input, index, param, state, scalar, output, minimise
    (x - r)^2, i, j, d)
    ^
k.tapestry:6:12: want the end of the line, found ): one bracket too many is closed
    z = mean(x))
               ^`},
	{"input 数据[i=3]\ny = mean(数据 - 漢字)", "k.tapestry:2:15: unknown quantity 漢字: did you mean 数据?\n    y = mean(数据 - 漢字)\n    " + strings.Repeat(" ", 16) + "^~~~"},
}

func TestMistakes(t *testing.T) {
	for _, c := range mistakes {
		f, err := Parse("k.tapestry", strings.NewReader(c.text))
		if err == nil {
			t.Errorf("read without a mistake:\n%s", f)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%s\ngot\n%v\nwant\n%s", c.text, err, c.want)
		}
		first := new(Error)
		if !errors.As(err, &first) || first.File != "k.tapestry" {
			t.Errorf("%v is no located error", err)
		}
	}
}

// TestHostileFiles checks that oversized files are refused in little time and stack.
func TestHostileFiles(t *testing.T) {
	for what, text := range map[string]string{
		"brackets":   "y = " + strings.Repeat("(", 30000),
		"signs":      "y = " + strings.Repeat("-", 60000) + "1",
		"powers":     "y = " + strings.Repeat("2^", 30000) + "1",
		"terms":      "y = 1" + strings.Repeat("+1", 30000),
		"calls":      "y = " + strings.Repeat("exp(", 16000) + "1",
		"length":     "y = 1 #" + strings.Repeat("x", maxBytes),
		"axes":       "input x[a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,k=1]\ny = mean(x)",
		"outer":      "input x[i=100000]\ny = sum(x*x[i→j]*x[i→k])",
		"number":     "y = 1e999",
		"size":       "input x[i=99999999999999999999]\ny = mean(x)",
		"zero":       "input x[i=0]\ny = mean(x)",
		"axis names": "input x[ⅷ=2]\ny = mean(x)",
		"letters":    "input x[ж=2]\ny = mean(x)",
		"negative":   "param x[i=2] ~ normal(0, -1)\ny = mean(x)",
		"clusters":   "input x[i=2] ~ clusters(0)\ny = mean(x)",
		"spread":     "index x[i=2] ~ integers(0.5)\ny = mean(float(x))",
	} {
		if _, err := Parse("k.tapestry", strings.NewReader(text)); err == nil {
			t.Errorf("%s: not refused", what)
		} else if !strings.HasPrefix(err.Error(), "k.tapestry") {
			t.Errorf("%s: %v has no place", what, err)
		}
	}
}

// TestSettings: sizes and scalars are settings; sizes that do not go together, and
// ones that nothing could hold, are refused at their line.
func TestSettings(t *testing.T) {
	f, err := Parse("k.tapestry", strings.NewReader("input x[i=3, m=i]\nparam w[j=3]\nscalar γ = 2  # how much\ny = mean(γ*x[i→j]*w)"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Build(builders.Settings{"i": 5, "j": 5, "gamma": 4}, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Graph.Lookup("x").Shape().String(); got != "[i=5 m=5]" {
		t.Errorf("x is %s", got)
	}
	if v, _ := m.Graph.Lookup("γ").Default(); v != 4 {
		t.Errorf("γ is %v", v)
	}
	for _, c := range []struct {
		s    builders.Settings
		want string
	}{
		{builders.Settings{"i": 4}, "k.tapestry: k.tapestry:4: sizes: i=4 cannot be called j=3 (give them one size, as in j=i)"},
		{builders.Settings{"m": 4}, `k.tapestry has no setting "m": it has i, j, gamma`},
		{builders.Settings{"i": 0}, "k.tapestry: i = 0: want a whole number of at least 1"},
		{builders.Settings{"i": 1 << 20, "j": 1 << 20}, "k.tapestry: k.tapestry:1: sizes: x has more than 134217728 elements"},
	} {
		if _, err := f.Build(c.s, graph.F64); err == nil || firstLine(err.Error()) != c.want {
			t.Errorf("%v: got %v\nwant %s", c.s, err, c.want)
		}
	}
}

// TestNumbersOfTheType: a number that f32 does not hold is refused at its line where a model of f32
// is made; one of f64 holds it.
func TestNumbersOfTheType(t *testing.T) {
	f, err := Parse("k.tapestry", strings.NewReader("input x[i=3]\nparam w[i] ~ fill(1e39)\nscalar c = -1e39\ny = mean(c*x*w + 1e39)"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Build(nil, graph.F64); err != nil {
		t.Error(err)
	}
	const fix = " (its finite numbers end at 3.4e38: use f64)"
	const want = "k.tapestry: k.tapestry:2: Init: initialiser fill(1e+39): 1e+39 is no value of type f32: w[i=3]" + fix +
		"\nk.tapestry:3: input: -1e+39 is no value of type f32" + fix +
		"\nk.tapestry:4: constant: 1e+39 is no value of type f32" + fix
	if _, err := f.Build(nil, graph.F32); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// TestByteOrderMark: files of editors that begin them with the mark are read as others.
func TestByteOrderMark(t *testing.T) {
	const text = "input x[i=3]\ny = mean(x)\n"
	f, err := Parse("k.tapestry", strings.NewReader("\uFEFF"+text))
	if err != nil {
		t.Fatal(err)
	}
	if f.String() != text {
		t.Errorf("it is printed as %q", f)
	}
}
