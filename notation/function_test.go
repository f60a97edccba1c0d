package notation

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// The values that functions are tested with.
var (
	testX = [2][3]float64{{0.5, -1.25, 2}, {-0.75, 1.5, -2.5}}
	testR = [4][3]float64{{1, 2, 3}, {-1, 0.5, 0}, {2, -2, 1}, {0.25, 0.75, -0.5}}
)

// fold goes over the three elements of row i of x.
func fold(i int, f func(acc, x float64) float64, acc float64) float64 {
	for _, x := range testX[i] {
		acc = f(acc, x)
	}
	return acc
}

// gram is the product of rows i and k of x.
func gram(i, k int) (s float64) {
	for d := range 3 {
		s += testX[i][d] * testX[k][d]
	}
	return s
}

func rowMean(i int) float64 { return fold(i, func(a, x float64) float64 { return a + x }, 0) / 3 }
func rowVar(i int) float64 {
	m := rowMean(i)
	return fold(i, func(a, x float64) float64 { return a + (x-m)*(x-m) }, 0) / 3
}
func rowSumExp(i int) float64 {
	return fold(i, func(a, x float64) float64 { return a + math.Exp(x) }, 0)
}

// values has expressions over x[i=2, d=3] and r[j=4, d] with their values, element by element,
// written down independently. ix has an index for each axis of the result.
var values = []struct {
	axes, text string
	want       func(ix ...int) float64
}{
	{"i,d", "exp(x)", func(ix ...int) float64 { return math.Exp(testX[ix[0]][ix[1]]) }},
	{"i,d", "log(x^2)", func(ix ...int) float64 { return 2 * math.Log(math.Abs(testX[ix[0]][ix[1]])) }},
	{"i,d", "expm1(x)", func(ix ...int) float64 { return math.Expm1(testX[ix[0]][ix[1]]) }},
	{"i,d", "log1p(x²)", func(ix ...int) float64 { return math.Log1p(testX[ix[0]][ix[1]] * testX[ix[0]][ix[1]]) }},
	{"i,d", "sqrt(abs(x))", func(ix ...int) float64 { return math.Sqrt(math.Abs(testX[ix[0]][ix[1]])) }},
	{"i,d", "sign(x)", func(ix ...int) float64 { return math.Copysign(1, testX[ix[0]][ix[1]]) }},
	{"i,d", "sin(x) + cos(x)", func(ix ...int) float64 { s, c := math.Sincos(testX[ix[0]][ix[1]]); return s + c }},
	{"i,d", "erf(x) - tanh(x)", func(ix ...int) float64 { x := testX[ix[0]][ix[1]]; return math.Erf(x) - math.Tanh(x) }},
	{"i,d", "sigmoid(x)", func(ix ...int) float64 { return 1 / (1 + math.Exp(-testX[ix[0]][ix[1]])) }},
	{"i,d", "logsigmoid(x)", func(ix ...int) float64 { return -math.Log(1 + math.Exp(-testX[ix[0]][ix[1]])) }},
	{"i,d", "softplus(x)", func(ix ...int) float64 { return math.Log(1 + math.Exp(testX[ix[0]][ix[1]])) }},
	{"i,d", "relu(x)", func(ix ...int) float64 { return max(0, testX[ix[0]][ix[1]]) }},
	{"i,d", "elu(x)", func(ix ...int) float64 {
		if x := testX[ix[0]][ix[1]]; x < 0 {
			return math.Expm1(x)
		}
		return testX[ix[0]][ix[1]]
	}},
	{"i,d", "gelu(x)", func(ix ...int) float64 {
		x := testX[ix[0]][ix[1]]
		return x / 2 * (1 + math.Erf(x/math.Sqrt2))
	}},
	{"i,d", "silu(x)", func(ix ...int) float64 { x := testX[ix[0]][ix[1]]; return x / (1 + math.Exp(-x)) }},
	{"i,d", "mish(x)", func(ix ...int) float64 { x := testX[ix[0]][ix[1]]; return x * math.Tanh(math.Log1p(math.Exp(x))) }},
	{"i,d", "trigamma(x^2 + 1) - trigamma(x^2 + 2)", func(ix ...int) float64 { return math.Pow(testX[ix[0]][ix[1]]*testX[ix[0]][ix[1]]+1, -2) }},
	{"i,d", "stopgradient(x)", func(ix ...int) float64 { return testX[ix[0]][ix[1]] }},
	{"i,j,d", "maximum(x, r)", func(ix ...int) float64 { return max(testX[ix[0]][ix[2]], testR[ix[1]][ix[2]]) }},
	{"i,j,d", "minimum(r, x)", func(ix ...int) float64 { return min(testX[ix[0]][ix[2]], testR[ix[1]][ix[2]]) }},
	{"i,d", "clip(x, -1, 1.75)", func(ix ...int) float64 { return min(max(testX[ix[0]][ix[1]], -1), 1.75) }},
	{"j,i,d", "where(and(x > 0, not(or(r < 0, r >= 2))), x, -1)", func(ix ...int) float64 {
		if x, r := testX[ix[1]][ix[2]], testR[ix[0]][ix[2]]; x > 0 && r >= 0 && r < 2 {
			return x
		}
		return -1
	}},
	{"i,d", "float(x <= 0.5)", func(ix ...int) float64 {
		if testX[ix[0]][ix[1]] <= 0.5 {
			return 1
		}
		return 0
	}},
	{"i", "sum(x, d)", func(ix ...int) float64 { return 3 * rowMean(ix[0]) }},
	{"", "mean(x)", func(...int) float64 { return (rowMean(0) + rowMean(1)) / 2 }},
	{"i", "prod(x, d)", func(ix ...int) float64 { return fold(ix[0], func(a, x float64) float64 { return a * x }, 1) }},
	{"i", "max(x, d) - min(x, d)", func(ix ...int) float64 { return [2]float64{2 + 1.25, 1.5 + 2.5}[ix[0]] }},
	{"i", "var(x, d)", func(ix ...int) float64 { return rowVar(ix[0]) }},
	{"i", "norm(x, d)", func(ix ...int) float64 {
		return math.Sqrt(fold(ix[0], func(a, x float64) float64 { return a + x*x }, 0))
	}},
	{"i", "logsumexp(x, d)", func(ix ...int) float64 { return math.Log(rowSumExp(ix[0])) }},
	{"i", "float(any(x > 1.75, d)) + 10*float(all(x >= -2.5, d))", func(ix ...int) (n float64) {
		if slices.Max(testX[ix[0]][:]) > 1.75 {
			n++
		}
		if slices.Min(testX[ix[0]][:]) >= -2.5 {
			n += 10
		}
		return n
	}},
	{"i", "float(argmax(x, d)) + 10*float(argmin(x, d))", func(ix ...int) float64 { return [2]float64{2 + 10, 1 + 20}[ix[0]] }},
	{"i,d", "softmax(x, d)", func(ix ...int) float64 { return math.Exp(testX[ix[0]][ix[1]]) / rowSumExp(ix[0]) }},
	{"d,i", "logsoftmax(x, d)", func(ix ...int) float64 { return testX[ix[1]][ix[0]] - math.Log(rowSumExp(ix[1])) }},
	{"i,d", "sparsemax(x/10, d)", func(ix ...int) float64 { // so near each other that all are in the support
		return testX[ix[0]][ix[1]]/10 - rowMean(ix[0])/10 + 1./3
	}},
	{"i,d", "cumsum(x, d)", func(ix ...int) float64 {
		s := 0.0
		for d := range ix[1] + 1 {
			s += testX[ix[0]][d]
		}
		return s
	}},
	{"i,d", "cumprod(x, d)", func(ix ...int) float64 { return running(ix, 1, func(a, x float64) float64 { return a * x }) }},
	{"i,d", "cummax(x, d)", func(ix ...int) float64 { return running(ix, math.Inf(-1), math.Max) }},
	{"i,d", "cummin(x, d)", func(ix ...int) float64 { return running(ix, math.Inf(1), math.Min) }},
	{"i,d", "logcumsumexp(x, d)", func(ix ...int) float64 {
		return math.Log(running(ix, 0, func(a, x float64) float64 { return a + math.Exp(x) }))
	}},
	{"i,d", "sort(x, d)", func(ix ...int) float64 { return slices.Sorted(slices.Values(testX[ix[0]][:]))[ix[1]] }},
	{"i,d", "float(argsort(x, d))", func(ix ...int) float64 {
		row := testX[ix[0]][:]
		return float64(slices.Index(row, slices.Sorted(slices.Values(row))[ix[1]]))
	}},
	{"i,d", "standardise(x, d)", func(ix ...int) float64 {
		return (testX[ix[0]][ix[1]] - rowMean(ix[0])) / math.Sqrt(rowVar(ix[0])+1e-5)
	}},
	{"j,i", "dot(x, r, d)", func(ix ...int) float64 {
		s := 0.0
		for d := range 3 {
			s += testX[ix[1]][d] * testR[ix[0]][d]
		}
		return s
	}},
	{"i,d", "conv(x*r, r[d→k], j, d, k)", func(ix ...int) (s float64) {
		for k := range 3 {
			if at := ix[1] + k - 1; at >= 0 && at < 3 {
				for j := range 4 {
					s += testX[ix[0]][at] * testR[j][at] * testR[j][k]
				}
			}
		}
		return s
	}},
	{"j,d", "conv(x, x[d→k]*r[d→k], i, d, k)", func(ix ...int) (s float64) {
		for k := range 3 {
			if at := ix[1] + k - 1; at >= 0 && at < 3 {
				for i := range 2 {
					s += testX[i][at] * testX[i][k] * testR[ix[0]][k]
				}
			}
		}
		return s
	}},
	{"i,d", "maxpool(x, 3, d)", func(ix ...int) float64 {
		return slices.Max(testX[ix[0]][max(0, ix[1]-1):min(3, ix[1]+2)])
	}},
	{"i,d", "avgpool(x, size(d), i, d)", func(ix ...int) float64 {
		s, n := 0.0, 0.0
		for i := range 2 {
			for d := max(0, ix[1]-1); d < min(3, ix[1]+2); d++ {
				s, n = s+testX[i][d], n+1
			}
		}
		return s / n
	}},
	{"i,j", "onehot(argmax(x, d), j)", func(ix ...int) float64 {
		if ix[1] == [2]int{2, 1}[ix[0]] {
			return 1
		}
		return 0
	}},
	{"i,d", "take(r, argmax(x, d), j)", func(ix ...int) float64 { return testR[[2]int{2, 1}[ix[0]]][ix[1]] }},
	{"i,d", "float(searchsorted(sort(sum(r, d), j), x, j))", func(ix ...int) (n float64) {
		for _, r := range testR {
			if r[0]+r[1]+r[2] < testX[ix[0]][ix[1]] {
				n++
			}
		}
		return n
	}},
	{"", "size(j)*size(d)/size(i)", func(...int) float64 { return 6 }},
	// operators, and expressions that could be parsed in two ways
	{"i", "-x[i]^2*sum(r, j) - 2 - 3", nil},
	{"", "2^3^2 - -1", func(...int) float64 { return 513 }},
	{"i,d", "x^3 - x^-2 + (x^2)^0.5", func(ix ...int) float64 {
		x := testX[ix[0]][ix[1]]
		return x*x*x - 1/(x*x) + math.Abs(x)
	}},
	{"", "8/4/2*3", func(...int) float64 { return 3 }},
	{"", "-2^2", func(...int) float64 { return -4 }},
	{"", "2^-1", func(...int) float64 { return 0.5 }},
	{"i,k", "dot(x, x[i→k], d)", func(ix ...int) float64 {
		s := 0.0
		for d := range 3 {
			s += testX[ix[0]][d] * testX[ix[1]][d]
		}
		return s
	}},
	{"i,d", "atan2(x, 2)", func(ix ...int) float64 { return math.Atan2(testX[ix[0]][ix[1]], 2) }},
	{"i,d", "mod(x, 1) + floordiv(x, 1)", func(ix ...int) float64 { return testX[ix[0]][ix[1]] }},
	{"i,d", "xlogy(x, 2)", func(ix ...int) float64 { return testX[ix[0]][ix[1]] * math.Ln2 }},
	{"i,k", "trace(dot(x[i→k], x, d) + 0, i, k)", nil},
	{"", "trace(dot(x[i→k], x, d), i, k)", func(...int) float64 { return gram(0, 0) + gram(1, 1) }},
	{"i", "diag(dot(x[i→k], x, d), i, k)", func(ix ...int) float64 { return gram(ix[0], ix[0]) }},
	{"", "det(dot(x[i→k], x, d), i, k) - exp(logdet(dot(x[i→k], x, d), k, i))", func(...int) float64 { return 0 }},
	{"i,k", "tril(dot(x, x[i→k], d), i, k) + 2*triu(dot(x, x[i→k], d), i, k)", func(ix ...int) float64 {
		return gram(ix[0], ix[1]) * [2][2]float64{{3, 2}, {1, 3}}[ix[0]][ix[1]]
	}},
	{"k,i", "inv(dot(x, x[i→k], d), i, k)", func(ix ...int) float64 {
		det := gram(0, 0)*gram(1, 1) - gram(0, 1)*gram(0, 1)
		return [2][2]float64{{gram(1, 1), -gram(0, 1)}, {-gram(0, 1), gram(0, 0)}}[ix[0]][ix[1]] / det
	}},
	{"k,d", "solve(dot(x, x[i→k], d), dot(dot(x, x[i→k], d), x[i→k], k), i, k)", func(ix ...int) float64 { return testX[ix[0]][ix[1]] }},
	{"i,l", "dot(cholesky(dot(x, x[i→k], d), i, k), cholesky(dot(x[i→l], x[i→k], d), l, k), k)", func(ix ...int) float64 { return gram(ix[0], ix[1]) }},
	{"i,k", "dot(eigenvectors(dot(x, x[i→n], d), i, n)*eigenvalues(dot(x, x[i→n], d), i, n), eigenvectors(dot(x[i→k], x[i→n], d), k, n), n)", func(ix ...int) float64 {
		return gram(ix[0], ix[1])
	}},
	{"i,k", "matrixpower(dot(x, x[i→k], d), 2, i, k)", func(ix ...int) float64 {
		return gram(ix[0], 0)*gram(0, ix[1]) + gram(ix[0], 1)*gram(1, ix[1])
	}},
	{"i,k", "matrixpower(dot(x, x[i→k], d), 2.5, i, k)", nil},
	{"", "logdet(matrixexp(0.1*dot(x, x[i→k], d), i, k), i, k)", func(...int) float64 { return 0.1 * (gram(0, 0) + gram(1, 1)) }},
	{"j,k,d", "solve(dot(x, x[i→k], d)*(2 + 0*sum(r, d)), dot(dot(x, x[i→k], d), x[i→k], k), i, k)", func(ix ...int) float64 { return testX[ix[1]][ix[2]] / 2 }},
	{"j,k", "solve(dot(x, x[i→k], d)*(2 + 0*sum(r, d)), dot(dot(x, x[i→k], d), sum(x[i→k], d), k), i, k)", func(ix ...int) float64 { return 3 * rowMean(ix[1]) / 2 }},
	{"k,j,d", "solve(dot(x, x[i→k], d), dot(dot(x, x[i→k], d), x[i→k]*r, k), i, k) - x[i→k]*r", func(...int) float64 { return 0 }},
	{"i", "solve(dot(x, x[i→k], d), x, d, k)", nil},
	{"d,j", "eye(d, j)", func(ix ...int) float64 {
		if ix[0] == ix[1] {
			return 1
		}
		return 0
	}},
	{"i,k", "eye(i, k)", func(ix ...int) float64 {
		if ix[0] == ix[1] {
			return 1
		}
		return 0
	}},
	{"k,i", "eye(k, i)", nil},
	{"i", "float(argmax(x, d) == 1)", func(ix ...int) float64 { return float64(ix[0]) }},
	{"i", "float(argmax(x, d) != -1) + float(argmax(x, d) > argmin(x, d))", func(ix ...int) float64 { return [2]float64{2, 1}[ix[0]] }},
}

// TestValues checks the value of every function and operator against its definition.
func TestValues(t *testing.T) {
	const head = "input x[i=2, d=3]\nparam r[j=4, d]\n"
	used := map[string]bool{}
	for _, c := range values {
		left := "y"
		if c.axes != "" {
			left += "[" + c.axes + "]"
		}
		f, err := Parse("v.tapestry", strings.NewReader(head+left+" = "+c.text))
		if c.want == nil {
			if err == nil {
				t.Errorf("%s is read though it has other axes", c.text)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		f.output.value.each(func(e *expr) { used[e.text] = true })
		m, err := f.Build(nil, graph.F64)
		if err != nil {
			t.Error(err)
			continue
		}
		feed := graph.Values{}
		x := graph.NewValue(m.Graph.Lookup("x").Type())
		for p := range x.Data {
			x.Data[p] = testX[p/3][p%3]
		}
		r := graph.NewValue(m.Graph.Lookup("r").Type())
		for p := range r.Data {
			r.Data[p] = testR[p/3][p%3]
		}
		feed[m.Graph.Lookup("x")], feed[m.Graph.Lookup("r")] = x, r
		got, err := ref.Eval(trait.Env{}, feed, m.Output)
		if err != nil {
			t.Error(err)
			continue
		}
		s := m.Output.Shape()
		if names := strings.Join(axisNamesOf(s), ","); names != c.axes {
			t.Errorf("%s has axes %s, want %s", c.text, names, c.axes)
		}
		for p, v := range got[0].Data {
			ix := make([]int, s.Rank())
			for a, rest := s.Rank()-1, p; a >= 0; a-- {
				ix[a], rest = rest%s.Dim(a), rest/s.Dim(a)
			}
			if want := c.want(ix...); math.Abs(v-want) > 1e-12 {
				t.Errorf("%s at %v is %v, want %v", c.text, ix, v, want)
			}
		}
	}
	for _, fn := range table {
		if !used[fn.name] && !fn.draws {
			t.Errorf("%s is not tested", fn.name)
		}
	}
}

func axisNamesOf(s graph.Shape) (out []string) {
	for _, a := range s.Axes() {
		out = append(out, a.Name)
	}
	return out
}

// TestOperationsAreFunctions checks that every operation that is applied element by element to one
// array is a function that applies it, or is listed here with the reason why not.
func TestOperationsAreFunctions(t *testing.T) {
	reasons := map[string]string{"Cast": "a file is built for one float type; float converts to it",
		"Polygamma": "its order is no value; digamma and trigamma have those that objectives have"}
	found := 0
	for _, op := range ops.List() {
		cas := op.Cases()[0]
		if !trait.IsElementwise(op) || len(cas.Operands) != 1 {
			continue
		}
		if reasons[op.Name()] != "" {
			delete(reasons, op.Name())
			continue
		}
		found++
		name, operand := strings.ToLower(op.Name()), "x"
		if strings.HasPrefix(cas.Operands[0].Type, "bool") {
			operand = "x > 0"
		}
		f, err := Parse("v.tapestry", strings.NewReader("input x[i=2]\ny[i] = float("+name+"("+operand+"))"))
		if err != nil {
			t.Errorf("%s is no function of the notation: %v", name, err)
			continue
		}
		m, err := f.Build(nil, graph.F32)
		if err != nil {
			t.Error(err)
			continue
		}
		is := func(n *graph.Node) bool { return n.Op() == graph.Op(op) }
		if !slices.ContainsFunc(graph.Reachable(m.Output), is) {
			t.Errorf("%s(%s) does not apply the operation", name, operand)
		}
	}
	if found < 15 || len(reasons) > 0 {
		t.Errorf("%d operations are functions: is the search broken? Not found: %v", found, reasons)
	}
}

// TestFunctionsAreDocumented: the package's documentation has the table of functions,
// and the words that start a statement.
func TestFunctionsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for line := range strings.Lines(reference(table)) {
		fmt.Fprintf(&want, "//\t%s", line)
	}
	if !strings.Contains(string(doc), want.String()) {
		t.Errorf("doc.go lacks the table\n%s", want.String())
	}
	for _, word := range words {
		if !strings.Contains(string(doc), `"`+word+`"`) {
			t.Errorf("the grammar in doc.go lacks %s", word)
		}
	}
}

// TestMergedAxes: the axes of two operands in an order that both agree with.
func TestMergedAxes(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"i d", "j d", "i j d"},
		{"", "i j", "i j"},
		{"i j", "", "i j"},
		{"i j", "j i", "i j"},
		{"b t d", "d e", "b t d e"},
		{"h", "i h", "i h"},
		{"a b c", "c x a", "a b c x"},
	} {
		if got := merged(strings.Fields(c.a), strings.Fields(c.b)); strings.Join(got, " ") != c.want {
			t.Errorf("%q with %q gives %v, want %s", c.a, c.b, got, c.want)
		}
	}
}

// running folds the row of testX up to an index.
func running(ix []int, start float64, f func(a, x float64) float64) float64 {
	for _, x := range testX[ix[0]][:ix[1]+1] {
		start = f(start, x)
	}
	return start
}
