package report

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// FragmentMark begins every file that WriteFragment writes, and tells it from others.
const FragmentMark = "<!-- Tapestry report -->"

// inAttribute makes a text fit to stand in an attribute between single quotes, of which a page has
// few.
var inAttribute = strings.NewReplacer("&", "&amp;", "'", "&#39;", "\x00", "")

// WriteFragment writes the page as one element that may stand anywhere in another page, such as a
// cell of a notebook, several times over: a frame that has the whole file inside. Neither
// styles nor identifiers nor scripts leave it or enter it. Its errors are those of Write.
func (p Page) WriteFragment(w io.Writer) error {
	var page strings.Builder
	if err := p.Write(&page); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n<iframe title=\"%s\" sandbox=\"allow-scripts\" width=\"100%%\" height=\"720\" style=\"display:block;box-sizing:border-box;width:100%%;border:1px solid #8a949e;border-radius:6px;resize:vertical\" srcdoc='%s'></iframe>\n",
		FragmentMark, html.EscapeString(p.shown().title()), inAttribute.Replace(page.String()))
	return err
}
