package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// mistakes are what the server says is wrong with a text.
func (p *tab) mistakes(text string) (said []string) {
	p.Helper()
	body, err := json.Marshal(map[string]string{"text": text, "name": "model.tapestry"})
	if err != nil {
		p.Fatal(err)
	}
	answer, err := http.Post(p.at+"/api/parse", "application/json", bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	defer answer.Body.Close()
	var told struct {
		Errors []struct {
			Line, Column int
			Message      string
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&told); err != nil {
		p.Fatal(err)
	}
	for _, m := range told.Errors {
		said = append(said, fmt.Sprintf("%d:%d %s", m.Line, m.Column, m.Message))
	}
	return said
}

// TestEditorTellsMistakes writes a model that lacks a quantity: the editor says what
// the parser says, where it says it, and a click leads to the place.
func TestEditorTellsMistakes(t *testing.T) {
	const wrong = "input x[i=4]\nloss = mean(y, i)\n"
	p := open(t, 1440, 900)
	write := func(text string) {
		p.do(chromedp.Evaluate(fmt.Sprintf(`(() => { const e = document.querySelector("#editor-text"); e.value = %q; e.dispatchEvent(new Event("input")); })()`, text), nil))
	}
	p.do(chromedp.Click("#write"), chromedp.WaitVisible("#editor-text"))
	write(wrong)
	want := p.mistakes(wrong)
	if len(want) == 0 {
		t.Fatal("the parser finds nothing wrong")
	}
	for _, m := range want {
		p.until("the mistake "+m, fmt.Sprintf(`document.querySelector("#editor-mistakes").textContent.includes(%q)`, m))
	}
	if eval[string](p, `document.querySelector("#editor-text").getAttribute("aria-invalid")`) != "true" {
		t.Error("the text is not marked as invalid")
	}
	p.do(chromedp.Click("#editor-mistakes button"))
	if at, want := eval[int](p, `document.querySelector("#editor-text").selectionStart`), strings.Index(wrong, "y,"); at != want {
		t.Errorf("the place of the mistake is at %d, want %d", at, want)
	}
	p.picture("editor")

	write("input x[i=4]\nparam w\nloss = mean((w*x - 1)^2, i)\n")
	p.until("no mistakes", `document.querySelector("#editor-mistakes").textContent === "No mistakes."`)
	p.do(chromedp.Click(`#editor-form button[type="submit"]`))
	p.until("the drawing of the text", `!document.querySelector("#editor").open && document.querySelectorAll(".items g.node").length >= 3`)
}
