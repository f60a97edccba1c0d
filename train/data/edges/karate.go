package edges

import (
	"embed"
	"encoding/csv"
	"strconv"
)

//go:embed karate_edges.csv karate_members.csv
var karate embed.FS

// Karate returns Zachary's karate club: 78 friendships between 34 members, and the faction that
// each member joined when the club split, 0 for the instructor's (member 0) and 1 for the officer's
// (member 33).
//
// Source: W. W. Zachary, An information flow model for conflict and fission in small
// groups, Journal of Anthropological Research 33, 1977; published facts.
func Karate() (club *Network, factions []int) {
	f, err := karate.Open("karate_edges.csv")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if club, err = Read("karate_edges.csv", f); err != nil {
		panic(err)
	}
	g, err := karate.Open("karate_members.csv")
	if err != nil {
		panic(err)
	}
	defer g.Close()
	members, err := csv.NewReader(g).ReadAll()
	if err != nil {
		panic(err)
	}
	for _, member := range members[1:] { // below the header
		faction, err := strconv.Atoi(member[1])
		if err != nil {
			panic(err)
		}
		factions = append(factions, faction)
	}
	return club, factions
}
