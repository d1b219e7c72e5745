// Package figures adds up what the turns of a corpus say about its mask: for the whole, and for each domain,
// source, agent, tool and provenance that is large enough to be shown.
//
//	turns --Names--> which domains, sources, agents and tools have most turns     first reading, four columns
//	turns --Figures--> Group: sums by category, distributions, density           second reading
//	               --> Joint: how many turns lie in each cell of a grid of bounds, for tables not tried yet
//	               --> Reservoir: examples of each kind, chosen by hash
//
// Counts are exact. Quantiles come from fixed bins: of a share to half a point, of a length ratio to a
// thirtieth of itself. Everything is the same in whatever parts and order turns are added, but for
// Names, which has to see the turns in one order, and the reservoir's list of kinds, which is in order of
// first sight. Memory is bounded, whatever names the content brings.
package figures
