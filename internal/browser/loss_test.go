package browser

import (
	"fmt"
	"strings"
	"testing"
)

// TestLossOfTheLastStep: the loss that is said of a step is the loss at the parameters that are
// shown, at the last step too, which no step of training has computed yet.
func TestLossOfTheLastStep(t *testing.T) {
	p := open(t, 1440, 900, "regression-relu")
	p.still()
	said := func(prefix string) string {
		p.until(prefix, fmt.Sprintf(`new RegExp("^%s · loss \\S+$").test(document.querySelector("#step-shown").textContent)`, prefix))
		return strings.TrimPrefix(p.text("#step-shown"), prefix+" · loss ")
	}
	p.train(5)
	last := said("step 5 of 5")
	p.scrub(4)
	before := said("step 4 of 5")
	p.scrub(5)
	if again := said("step 5 of 5"); again != last || last == before {
		t.Errorf("at step 5 of 5 the loss is said to be %s, then %s, and at step 4 %s", last, again, before)
	}
	p.train(1)
	p.scrub(5)
	if done := said("step 5 of 6"); done != last {
		t.Errorf("the loss at step 5 was said to be %s, and the step says %s", last, done)
	}
}
