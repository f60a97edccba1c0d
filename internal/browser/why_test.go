package browser

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// reason is what of /why the tests look at.
type reason struct {
	Place  string
	Value  float64
	Shares []struct {
		Node, Label string
		Exact       bool
		Total, Size float64
		Parts, Rows []struct {
			At           []int
			Contribution float64
		}
	}
}

// nodeOf is the node of a document whose title begins so.
func (p *tab) nodeOf(doc, title string) string {
	p.Helper()
	s := ask[sheet](p, "/api/docs/"+doc+"/sheet?level=notes&grad=1")
	return s.node(p.TB, title)
}

// TestWhy clicks a number, and sees what it is made of, back to its row of data, and what it changes;
// the numbers are the server's, which are the derivatives by the tape's values.
func TestWhy(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "--data", "iris")
	p.still()
	p.do(chromedp.SetValue("#steps", "20"), chromedp.Click("#train"))
	p.trained(20)
	p.clickNode("α", 1)
	p.until("its values", `document.querySelector("#node-panel .values table")`)
	p.still()
	p.do(chromedp.Click(`.values [data-at="5,1"].cell`))
	p.until("the reason", `document.querySelectorAll(".why .share").length === 2`)
	α := p.nodeOf("d1", "α")
	w := ask[reason](p, fmt.Sprintf("/api/docs/d1/node/%s/why?at=5,1&step=20&level=notes", α))
	// α = softmax(−γ·D): by D of its row and by γ, to first order.
	for i, want := range []string{"γ", "D"} {
		if s := w.Shares[i]; s.Label != want || s.Exact {
			t.Errorf("share %d is %+v, want %s to first order", i, s, want)
		}
	}
	said := p.text(".why")
	for _, want := range []string{"Why is α[i=5 j=1] = ", "first order", shown(w.Shares[1].Parts[0].Contribution)} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	if n := eval[int](p, `document.querySelectorAll(".marks .lit").length`); n != 2 {
		t.Errorf("%d boxes shine, want γ and D", n)
	}
	p.picture("why")

	p.do(chromedp.Click(`.why [data-way="sources"]`))
	p.until("the data", `document.querySelector(".why .share [class=place]")?.textContent.startsWith("x[i=5")`)
	if n := eval[int](p, `document.querySelectorAll(".marks .lit").length`); n < 4 {
		t.Errorf("%d boxes shine, want all between α and x", n)
	}
	p.picture("why-data")
	p.do(chromedp.Click(`.why [data-way="effects"]`))
	p.until("the loss", `document.querySelector(".why").innerText.includes("loss = ")`)
	if !strings.Contains(p.text(".why"), "exact") {
		t.Errorf("the loss is linear in α:\n%s", p.text(".why"))
	}
	// The row is marked among the data.
	p.until("the mark", `document.querySelector("#scatter-chart").textContent.includes("row 5")`)

	// A part leads on to its own reason, and the gradient below a number has one too.
	p.do(chromedp.Click(`.why [data-way="operands"]`))
	p.until("the operands", `document.querySelectorAll(".why .share").length === 2`)
	p.do(chromedp.Evaluate(`document.querySelectorAll(".why .share")[1].querySelector(".part").click()`, nil))
	p.until("the reason of D", `document.querySelector(".why h3")?.innerText.includes("D[i=5")`)
	p.until("its exact parts", `document.querySelector(".why .share")`)
	p.do(chromedp.Evaluate(`document.querySelector(".values .grad[data-at]").click()`, nil))
	p.until("the reason of the gradient", `document.querySelector(".why h3")?.innerText.includes("∂loss/∂D[i=0 j=0]")`)
	p.do(chromedp.Evaluate(`document.querySelector(".why > .link").click()`, nil))
	p.until("the end", `document.querySelector(".why").hidden && !document.querySelector(".marks .lit")`)
}

// shown is a number as the page writes it.
func shown(v float64) string {
	s := strconv.FormatFloat(v, 'g', 5, 64)
	if math.Abs(v) >= 1 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return strings.ReplaceAll(s, "-", "−")
}

// TestValuesApart shows the values of one box in two models, and their difference.
func TestValuesApart(t *testing.T) {
	p := open(t, 1440, 900, "kmeans-softmax", "kmeans-goofy", "--data", "iris")
	p.still()
	p.do(chromedp.SetValue("#steps", "20"), chromedp.Click("#train"))
	p.trained(20)
	p.clickNode("α", 1)
	p.until("its values", `document.querySelector("#node-panel .values table")`)
	p.still()
	p.until("both", `document.querySelectorAll(".whose button").length === 3`)
	α := [2][][]float64{}
	for i, doc := range []string{"d1", "d2"} {
		α[i] = p.values(doc, p.nodeOf(doc, "α"), 20)
	}
	p.do(chromedp.Click(`.whose [data-control="difference"]`))
	p.until("the difference", `document.querySelector(".apart tbody tr")`)
	largest, at := 0.0, ""
	for i := range α[0] {
		for j := range α[0][i] {
			if d := α[0][i][j] - α[1][i][j]; math.Abs(d) > math.Abs(largest) {
				largest, at = d, fmt.Sprintf("α[i=%d j=%d]", i, j)
			}
		}
	}
	first := p.text(".apart tbody tr")
	if !strings.HasPrefix(first, at) || !strings.Contains(first, shown(largest)[:5]) {
		t.Errorf("first comes %q, want %s with %v", first, at, largest)
	}
	if cell := p.text(`.values td [data-at="0,0"]`); !near(cell, α[0][0][0]-α[1][0][0]) {
		t.Errorf("the difference at 0,0 is %s, want %v", cell, α[0][0][0]-α[1][0][0])
	}
	p.do(chromedp.Evaluate(`document.querySelector(".apart tbody .link").click()`, nil))
	row := strings.TrimPrefix(strings.Fields(strings.TrimPrefix(at, "α["))[0], "i=")
	p.until("the mark in both", fmt.Sprintf(`[...document.querySelectorAll("#scatter-chart .chart-frame")].length === 2 && [...document.querySelectorAll("#scatter-chart .chart-frame")].every((c) => c.textContent.includes("row %s"))`, row))
	p.picture("apart")
}

func near(text string, want float64) bool {
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "−", "-"), 64)
	return err == nil && math.Abs(v-want) <= 1e-4*math.Abs(want)+1e-6
}
