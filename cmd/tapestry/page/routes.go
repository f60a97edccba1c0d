package page

import (
	"net/url"
	"strings"
)

// route is a kind of request and the function that answers it: with a value, which is sent as JSON,
// a file, or lines.
type route struct {
	method string
	path   string // {name} stands for any part of a path
	answer func(*request) (any, error)
}

// routes is all that the page can ask. Of two routes that match, the first one answers.
func (s *Service) routes() []route {
	return []route{
		{"GET", "/", s.index},
		{"GET", "/assets/chart.css", s.chartStyle},
		{"GET", "/assets/{name}", s.asset},

		{"GET", "/api/models", s.models},
		{"GET", "/api/optimisers", s.optimisers},
		{"GET", "/api/examples", s.examples},
		{"POST", "/api/open", s.open},
		{"POST", "/api/parse", s.parse},
		{"POST", "/api/frame", s.frame},
		{"GET", "/api/docs", s.documents},
		{"GET", "/api/shelf", s.standing},
		{"DELETE", "/api/docs/{doc}", s.drop},
		{"GET", "/api/docs/{doc}", s.with(s.describe)},
		{"GET", "/api/docs/{doc}/sheet", s.with(s.sheet)},
		{"GET", "/api/docs/{doc}/words", s.with(s.words)},
		{"GET", "/api/docs/{doc}/node/{node}", s.with(s.nodeInfo)},
		{"GET", "/api/docs/{doc}/node/{node}/values", s.with(s.values)},
		{"GET", "/api/docs/{doc}/node/{node}/why", s.with(s.why)},
		{"GET", "/api/docs/{doc}/node/{node}/place", s.with(s.place)},
		{"GET", "/api/docs/{doc}/terms", s.with(s.terms)},
		{"GET", "/api/docs/{doc}/moment", s.with(s.moment)},
		{"GET", "/api/docs/{doc}/tape", s.with(s.tape)},
		{"GET", "/api/docs/{doc}/instruction/{i}", s.with(s.instruction)},
		{"POST", "/api/docs/{doc}/train", s.train},
		{"GET", "/api/docs/{doc}/history", s.with(s.history)},
		{"GET", "/api/docs/{doc}/loss", s.with(s.loss)},
		{"GET", "/api/docs/{doc}/chart", s.with(s.chart)},
		{"GET", "/api/docs/{doc}/derivation", s.with(s.derivation)},
		{"GET", "/api/docs/{doc}/autopsy", s.with(s.autopsy)},
		{"GET", "/api/docs/{doc}/break", s.with(s.runToBreak)},
		{"GET", "/api/docs/{doc}/rewrites", s.with(s.rewrites)},
		{"GET", "/api/docs/{doc}/rewrites/{i}/sheet", s.with(s.firingSheet)},
		{"GET", "/api/docs/{doc}/download/report", s.report},
		{"GET", "/api/docs/{doc}/download/{kind}", s.with(s.download)},
		{"GET", "/api/runs", s.runs},
		{"GET", "/api/runs/chart", s.runsChart},
		{"GET", "/api/runs/at", s.runsAt},
		{"POST", "/api/runs/{run}/open", s.openRun},
		{"GET", "/api/compare", s.compare},
		{"GET", "/api/compare/values", s.beside},
		{"GET", "/api/compare/svg", s.compareSVG},
		{"GET", "/api/compare/charts", s.compareCharts},
	}
}

// match returns the parts of an escaped path that stand at the names of a route, if it is such a
// path.
func (r route) match(path string) (places map[string]string, ok bool) {
	want, have := strings.Split(r.path, "/"), strings.Split(path, "/")
	if len(want) != len(have) {
		return nil, false
	}
	places = map[string]string{}
	for i, part := range want {
		text, err := url.PathUnescape(have[i])
		if err != nil {
			return nil, false
		}
		name, named := strings.CutPrefix(part, "{")
		switch {
		case named && text != "":
			places[strings.TrimSuffix(name, "}")] = text
		case named || text != part:
			return nil, false
		}
	}
	return places, true
}
