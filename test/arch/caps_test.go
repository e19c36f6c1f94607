package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// capName is what a constant is called that bounds something.
var capName = regexp.MustCompile(`^(?:[mM]ost|[mM]ax)(?:$|[A-Z])`)

// caps are the constants in preflight, policies and runtime-diagnose that bound what is read, tried or kept, each with the test that goes
// one above it: its folder, its name, and the case where it has several. There the answer is unknown and says
// why, an error, or proven to be the same. A path that ends in .txtar is a fixture of a check.
var caps = map[string]string{
	"policies.mostAnswer":        "policies.TestOneCallCannotFillTheMemory",
	"policies.mostBundle":        "policies.TestABundleIsRefused/it unpacks to more than the bound",
	"policies/plan.mostElements": "policies/plan.TestALargeSetIsNotKept",
	"policies/plan.mostKept":     "policies/plan.TestSixteenAreKept",
	"policies/plan.mostWhole":    "policies/plan.TestALongNumberIsATerm",
	"policies.mostDigits":        "policies.TestOneCallCannotFillTheMemory",
	"policies.mostNested":        "policies.TestExpressionsAreNestedUpToABound",
	"policies.mostWithin":        "policies.TestExpressionsAreNestedUpToABound",
	"policies.mostDecision":      "policies.TestALargeDecisionLosesItsObject",
	"policies.mostFailed":        "policies.TestExplanationsAreBounded",
	"policies.mostInlined":       "policies.TestWhatDoublesIsNotEvaluatedPartially",
	"policies.mostMasked":        "policies.TestPlacesThatAreMaskedAreNamedUpToABound",
	"policies.mostMemory":        "policies.TestTheWatcherStopsWhatFillsTheHeap",
	"policies.mostPlaces":        "policies.TestPlacesOfARuleAreBounded",
	"policies.mostProblems":      "policies.TestAReplayIsBounded",
	"policies.mostRefusedJobs":   "policies.TestAReplayIsBounded",
	"policies.mostShown":         "policies.TestALongLineIsNotShown",
	"policies.mostTime":          "policies.TestLoopsAndBombsEnd",
	"policies.mostValue":         "policies.TestExplanationsAreBounded",
	"policies.hold.most":         "policies.TestTheSixthErrorIsCounted",
	"policies.short.most":        "policies.TestTheSixthErrorIsCounted",
	"policies.mostWaiting":       "policies.TestARecorderHoldsUpNobody",
	"policies/oci.mostBytes":     "policies/oci.TestAnErrorInAnAnnotationIsBounded",
	"policies/oci.mostLayer":     "policies/oci.TestWhatIsNotFetched",
	"policies/oci.mostManifest":  "policies/oci.TestWhatIsNotFetched",
	"policies/oci.mostRedirects": "policies/oci.TestARegistryDoesNotSendUsAnywhere/ten times",

	"preflight/check.mostCompared":                   "preflight/check.TestNamesLongerThanThereAreAreNotCompared",
	"preflight/check.mostUnheld":                     "preflight/check.TestWhatTheViewDoesNotHoldIsSaid",
	"preflight/checks/counts.mostConfig":             "preflight/checks/counts.TestBatchSizesIn/beyond what is looked at",
	"preflight/checks/counts.mostConfigs":            "preflight/checks/counts.TestBatchSizesIn/more than are looked for",
	"preflight/checks/counts.mostObjects":            "preflight/checks/counts.TestBatchSizesIn/behind one object too many",
	"preflight/checks/internal/facts.Quoted.most":    "preflight/checks/internal/facts.TestWhatAMessageHasNoRoomForIsCutAndCounted",
	"preflight/checks/internal/facts.ShortList.most": "preflight/checks/internal/facts.TestWhatAMessageHasNoRoomForIsCutAndCounted",
	"preflight/checks/internal/facts.mostSlips":      "preflight/checks/internal/facts.TestANameOfOneSlipMoreIsNotTakenForNearlyHeld",
	"preflight/checks/internal/facts.sums.most":      "preflight/checks/internal/facts.TestSumsOfMoreRolesThanAreTriedAreUnknown",
	"preflight/checks/resources.mostCores":           "preflight/checks/resources/testdata/amount-in-wrong-unit/fires-on-ten-million-cores.txtar",
	"preflight.mostEarlier":                          "preflight.TestEarlierRunsAreBounded",
	"preflight.mostName":                             "preflight.TestASeriesIsNameGenerateNameAndController",
	"preflight.mostEarlierText":                      "preflight.TestRunOfSaysHowARunEnded/a line one above the bound",
	"preflight/fit.mostSelected":                     "preflight/fit.TestSixteenLabelsOfASelectorAreLookedFor",
	"preflight/quota.mostOrderSteps":                 "preflight/fit.TestWhatRunsBesideWhatIsNotSortedForEver",
	"preflight/cluster.MostDeviceRequests":           "preflight/fit.TestDevicesThatAreAlikeForAllRequestsAreCounted/the 65th of 65 is not counted",
	"preflight/cluster.mostEntries":                  "preflight/cluster.TestEqualVectorsAreHeldOnce",
	"preflight/cluster.mostHeldOnce":                 "preflight/cluster.TestWhatIsHeldOnceIsBounded",
	"preflight/cluster.mostText":                     "preflight/cluster.TestShortTextsAreHeldOnce",
	"preflight/cluster.mostWritten":                  "preflight/cluster.TestEqualReachesAreHeldOnce",
	"preflight/cluster.maxAge":                       "preflight/cluster.TestMaxDurationOfT9k",
	"preflight/cluster.mostDeviceClasses":            "preflight/cluster.TestDevicesAreCountedByClassAsOneByOne",
	"preflight/cluster.mostKept":                     "preflight/cluster.TestDevicesAreCountedByClassAsOneByOne",
	"preflight/cluster.mostKeyText":                  "preflight/cluster.TestDevicesAreToldApartByTextOfAnyLength",
	"preflight/cluster.mostShared":                   "preflight/cluster.TestDevicesBeyondTheClassesThatAreLookedUpAreCountedToo",
	"preflight/fit/internal/assign.mostBeside":       "preflight/fit.TestDevicesThatAreAlikeForAllRequestsAreCounted/9 requests beside each other",
	"preflight/cluster.mostSelectors":                "preflight/fit.TestAClaimGoesWhereItsDriverHasStorage/65 capacities are too many",
	"preflight/cluster.mostWide":                     "preflight/fit.TestClaimsOfOneClassEachTakeAVolumeOfTheirOwn/65 volumes that all nodes reach",
	"preflight/cluster.mostColumns":                  "preflight/fit.TestEveryCacheOfAViewHasABound",
	"preflight/cluster.mostDigits":                   "preflight/cluster.TestOnlyAmountsThatTakeLongToReadAreLookedAtTwice",
	"preflight/cluster.mostDrivers":                  "preflight/fit.TestEveryCacheOfAViewHasABound",
	"preflight/cluster.mostExponent":                 "preflight/cluster.TestOnlyAmountsThatTakeLongToReadAreLookedAtTwice/1e31",
	"preflight/cluster.mostGroupings":                "preflight/fit.TestEveryCacheOfAViewHasABound",
	"preflight/cluster.mostSelections":               "preflight/fit.TestOneAboveAShortCutTheAnswerIsTheSame/513 labels and taints",
	"preflight/cluster.mostTable":                    "preflight/fit.TestGroupsOfNodesAreTheSameWhereTheyAreLookedUpOtherwise",
	"preflight/cluster/live.mostAnnotation":          "preflight/cluster/live.TestPodsAreHeldWithoutWhatNobodyShouldSee",
	"preflight/cluster/live.mostLine":                "preflight/cluster/live.TestAWatchOfLinesIsThatOfTheClient/one byte more than a line may keep",
	"preflight/cluster/live.mostPackRoom":            "preflight/cluster/live.TestALargeObjectIsPackedAsOthersAre",
	"preflight/cluster/live.mostOfAPod":              "preflight/cluster/live.TestAListThatIsNoneIsAnError/one byte too many",
	"preflight/cluster/live.mostWord":                "preflight/cluster/live.TestALongWordIsNotHeldBeyondItsPod",
	"preflight/cluster/live.mostWords":               "preflight/cluster/live.TestWordsAreHeldOnceAndNotForEver",
	"preflight/fit.mostNodes":                        "preflight/fit.TestALineOfThePlanNamesFourNodesAndCountsTheOthers",
	"preflight/fit/internal/assign.MostIdleSteps":    "preflight/fit.TestWhatIsNotProvenOfTheIdleClusterIsSaid",
	"preflight/fit/internal/assign.MostSteps":        "preflight/fit.TestOneAboveEachLimitIsUnknown/more steps than a question may cost",
	"preflight/fit/internal/assign.MostTrySteps":     "preflight/fit/internal/assign.TestATryThatCostsTooMuchCostsNoOther",
	"preflight/fit/internal/assign.mostDesks":        "preflight/fit/internal/assign.TestMemoryBeyondWhatIsKeptIsNotKept",
	"preflight/fit/internal/assign.mostKept":         "preflight/fit/internal/assign.TestMemoryBeyondWhatIsKeptIsNotKept",
	"preflight/fit/internal/assign.mostRemembered":   "preflight/fit/internal/assign.TestWhatIsNotRememberedIsWorkedOutAgain",
	"preflight/fit/internal/assign.mostStates":       "preflight/fit.TestOneAboveEachLimitIsUnknown/4,097 states",
	"preflight/fit/internal/assign.mostSubsets":      "preflight/fit.TestOneAboveAShortCutTheAnswerIsTheSame/7 roles, of which two are too many together",
	"preflight/fit/topology.mostAnchors":             "preflight/fit.TestOneAboveAShortCutTheAnswerIsTheSame/9 zones to begin in",
	"preflight/fit/topology.mostStarts":              "preflight/fit.TestOneAboveAShortCutTheAnswerIsTheSame/5 sets that each begin in a zone",
	"preflight/gang.mostParts":                       "preflight/gang.TestRolesThatStayWhole/one more",
	"preflight/kinds.mostParts":                      "preflight/kinds.TestRolesOfMorePartsThanAreToldApart",
	"preflight/fit/topology.mostBuildSteps":          "preflight/fit/topology.TestOtherWaysThanTheFirstCostAShare",
	"preflight/fit/topology.mostRebuilds":            "preflight/fit.TestOneAboveAShortCutTheAnswerIsTheSame/9 zones to begin in",
	"preflight/fit/topology.mostMixes":               "preflight/fit.TestOneAboveEachLimitIsUnknown/1,025 ways to fill a node",
	"preflight/fit/topology.mostSwept":               "preflight/fit.TestOneAboveEachLimitIsUnknown/65 nodes for pods that look at each other",
	"preflight/fit/whatif.MostSetsTried":             "preflight/fit.TestASetThatWasNotProvenIsNotCalledTheSmallest/601 sets",
	"preflight/fit/whatif.mostHinted":                "preflight/fit.TestWhatIsTriedOfRunningJobsLosesNoMoreThanAHint/of 32 not each is tried",
	"preflight/fit/whatif.mostCleared":               "preflight/fit.TestWhatIsNotTriedIsSaid/129 nodes to clear",
	"preflight/fit/whatif.mostDevices":               "preflight/fit.TestWhatIsNotTriedIsSaid/a pod of 1,025 devices",
	"preflight/fit/whatif.mostPreemptSteps":          "preflight/fit.TestVictimsThatCostTooManyStepsAreNotNamed",
	"preflight/fit/whatif.mostRoomy":                 "preflight/fit.TestVictimsAreTheSameHoweverManyNodesHaveRoom",
	"preflight/fit/whatif.mostTries":                 "preflight/fit.TestWhatIsNotTriedIsSaid/roles enough for more than tries",
	"preflight/fit/whatif.mostVariants":              "preflight/fit.TestWhatIsNotTriedIsSaid/7 node selectors",
	"preflight/kinds.mostDigits":                     "preflight/kinds.TestAmountsThatTakeMinutesToReadAreNotRead",
	"preflight/kinds.mostExponent":                   "preflight/kinds.TestAmountsThatTakeMinutesToReadAreNotRead",
	"preflight/kinds.mostNamed":                      "preflight/kinds.TestElementsOfALongListAreNamedByTheirIndex",
	"preflight/kinds.mostNested":                     "preflight/kinds.TestCommands/one more is not read",
	"preflight/kinds.mostOverrides":                  "preflight/kinds.TestMorePatchesThanAreMergedAreAProblem",
	"preflight/kinds.mostPatches":                    "preflight/kinds.TestMorePatchesThanAreMergedAreAProblem",
	"preflight/kinds.mostRemarks":                    "preflight/kinds.TestObjectsBeyondMeasure/many unknown",
	"preflight/kinds.mostRunes":                      "preflight/kinds.TestWhatIsQuotedIsCutBehindTheLastRuneThatIsShown",
	"preflight/kinds.mostScript":                     "preflight/kinds.TestCommands/a byte more is not read",
	"preflight/manifest.maxAliased":                  "preflight/manifest.TestReadNamesLineAndExpectation/an alias bomb",
	"preflight/manifest.maxBytes":                    "preflight/manifest.TestReadNamesLineAndExpectation/a line that goes on and on",
	"preflight/manifest.maxDepth":                    "preflight/manifest.TestReadNamesLineAndExpectation/nested without end",
	"preflight/manifest.maxDocument":                 "preflight/manifest.TestADocumentThatWouldFillTheMemoryIsRefused",
	"preflight/manifest.maxLayers":                   "preflight/manifest.TestReadNamesLineAndExpectation/gzip in gzip in gzip",
	"preflight/manifest.maxUnfolded":                 "preflight/manifest.TestATableThatIsNoneIsNamed",
	"preflight/manifest.maxValues":                   "preflight/manifest.TestReadNamesLineAndExpectation/an object that would fill the memory",
	"preflight/manifest.mostShapes":                  "preflight/manifest.TestPodsOfMoreShapesThanAreRememberedCountTheSame",
	"preflight/quota.mostHeld":                       "preflight/fit.TestWhatTheViewOfQueuesLacksIsUnknown/more queues than are named",
	"preflight/quota.mostFlavorTries":                "preflight/fit.TestWhatOfAQueueIsNotJudgedIsSaid/15 roles in two flavors",
	"preflight/quota.mostParents":                    "preflight/fit.TestWhatOfAQueueIsNotJudgedIsSaid/17 queues above each other",
	"preflight/quota.mostSharers":                    "preflight/quota.TestSoManyPodsShareAClaim/one more",
	"preflight/words.Stem.most":                      "preflight/words.TestAStemIsTheBeginningOfAName",
	"preflight/words.MostRoles":                      "preflight/fit.TestASentenceNamesNoMoreRolesThanCanBeRead",

	"runtime-diagnose/bare.mostContainers":       "runtime-diagnose/bare.TestContainers/one more is the log of one",
	"runtime-diagnose/collect.maxFiles":          "runtime-diagnose/collect.TestWhatIsHeldOfABundleIsBounded",
	"runtime-diagnose/collect.maxObjects":        "runtime-diagnose/collect.TestAFolderMayHoldYAMLThatIsNoLog",
	"runtime-diagnose/collect.maxTotal":          "runtime-diagnose/collect.TestWhatIsHeldOfABundleIsBounded",
	"runtime-diagnose/collect.mostAbsent":        "runtime-diagnose/collect.TestKindsThatAClusterLacksAreBounded",
	"runtime-diagnose/collect.mostAsked":         "runtime-diagnose/collect.TestEventsOfABusyNamespace",
	"runtime-diagnose/collect.mostBarred":        "runtime-diagnose/collect.TestWhatMayNotBeReadIsOneSentence/one above the bound",
	"runtime-diagnose/collect.mostClaims":        "runtime-diagnose/collect.TestClaimsOfFailedPodsAreReadFirst",
	"runtime-diagnose/collect.mostFollowed":      "runtime-diagnose/collect.TestFollowedEventsAreBounded",
	"runtime-diagnose/collect.mostFollowedOf":    "runtime-diagnose/collect.TestFollowedEventsOfANamespaceAreBounded",
	"runtime-diagnose/collect.mostFormer":        "runtime-diagnose/collect.TestNodesOfManyEvictedPods",
	"runtime-diagnose/collect.mostGroups":        "runtime-diagnose/collect.TestGroupsOfWorkersAreBounded",
	"runtime-diagnose/collect.mostJobPages":      "runtime-diagnose/collect.TestPagesOfJobsAreBounded",
	"runtime-diagnose/collect.mostNumbered":      "runtime-diagnose/collect.TestNumbersOfLinesThatDoNotFitTheLog/one line too many to be numbered",
	"runtime-diagnose/collect.mostOperators":     "runtime-diagnose/collect.TestTheOperatorOfASilentJob",
	"runtime-diagnose/collect.mostQueues":        "runtime-diagnose/collect.TestQueuesOfOneNameAreBounded",
	"runtime-diagnose/collect.mostShared":        "runtime-diagnose/collect.TestJobsThatFailTogetherAskOnce",
	"runtime-diagnose/collect.mostTaintRules":    "runtime-diagnose/collect.TestTaintRulesForTheDevicesOfTheJobAreRead/more than are read",
	"runtime-diagnose/control.mostLeft":          "runtime-diagnose.TestFinalizersThatHoldAJob/one more",
	"runtime-diagnose/controller.maxNote":        "runtime-diagnose/controller.TestAnEventEndsInItsRunbook",
	"runtime-diagnose/controller.mostAsked":      "runtime-diagnose/controller.TestOneNamespaceHasOneQuestionAndAllHaveEight",
	"runtime-diagnose/controller.mostAskedPods":  "runtime-diagnose/controller.TestTheTokenGoesAlong",
	"runtime-diagnose/controller.mostNamed":      "runtime-diagnose/controller.TestOnlySoManyPodsAreNamed",
	"runtime-diagnose/controller.mostWarnings":   "runtime-diagnose/controller.TestWhatIsRememberedIsBounded",
	"runtime-diagnose/familiar.Most":             "runtime-diagnose/familiar.TestWhatCannotBeToldIsNotNew",
	"runtime-diagnose/keep.mostFile":             "runtime-diagnose/keep.TestAForeignFormIsRefused/a log above the bound",
	"runtime-diagnose/keep.mostFiles":            "runtime-diagnose/keep.TestAForeignFormIsRefused/a file too many",
	"runtime-diagnose/keep.mostHits":             "runtime-diagnose/keep.TestTheLatestOfManyAreKept",
	"runtime-diagnose/keep.mostIndex":            "runtime-diagnose/keep.TestAForeignFormIsRefused/an index above the bound",
	"runtime-diagnose/keep.mostLast":             "runtime-diagnose/keep.TestTheLatestOfManyAreKept",
	"runtime-diagnose/keep.mostLines":            "runtime-diagnose/keep.TestAForeignFormIsRefused/a number above the bound",
	"runtime-diagnose/keep.mostPerSign":          "runtime-diagnose/keep.TestTheLatestOfManyAreKept",
	"runtime-diagnose/keep.mostTotal":            "runtime-diagnose/keep.TestAForeignFormIsRefused/together above the bound",
	"runtime-diagnose/lazy.mostRecent":           "runtime-diagnose/lazy.TestRecentTextsAreBounded",
	"runtime-diagnose/lazy.mostRequired":         "runtime-diagnose/lazy.TestRequired",
	"runtime-diagnose/ledger.Most":               "runtime-diagnose/ledger.TestALedgerIsBounded",
	"runtime-diagnose/ledger.mostTallies":        "runtime-diagnose/ledger.TestALedgerIsBounded",
	"runtime-diagnose/llm.MaxText":               "runtime-diagnose/llm.TestAnswersAreBounded/a byte more",
	"runtime-diagnose/llm.maxBody":               "runtime-diagnose/llm.TestAnswersAreBounded/more than a body may be",
	"runtime-diagnose/logscan.mostCalls":         "runtime-diagnose.TestTheRankThatIsBehindIsFoundAmongMany/more than are compared",
	"runtime-diagnose/logscan.mostElastic":       "runtime-diagnose.TestTheLastOfManyAgentsNamesTheRank",
	"runtime-diagnose/logscan.mostJudged":        "runtime-diagnose/logscan.TestJudgedTextsAreBounded",
	"runtime-diagnose/logscan.mostLaunches":      "runtime-diagnose.TestTheLastOfManyLaunchesCounts",
	"runtime-diagnose/logscan.mostLineInResults": "runtime-diagnose/logscan.TestWhatIsKeptOfAllLogsIsBounded",
	"runtime-diagnose/logscan.mostLost":          "runtime-diagnose/logscan.TestLostLogsAreNamedOrCounted",
	"runtime-diagnose/logscan.mostPerSignature":  "runtime-diagnose/logscan.TestTheLastSightingIsKept",
	"runtime-diagnose/logscan.mostSightings":     "runtime-diagnose/logscan.TestAFullLogHasRoomForItsEnd",
	"runtime-diagnose/notify.mostBody":           "runtime-diagnose/notify.TestWhatCannotBeIsRefused/a template without an end",
	"runtime-diagnose/notify.mostKnown":          "runtime-diagnose/notify.TestWhatIsRememberedIsBounded",
	"runtime-diagnose/notify.mostQueued":         "runtime-diagnose/notify.TestAReceiverThatHangsIsBounded",
	"runtime-diagnose/progress.bar.most":         "runtime-diagnose/progress.TestOtherLinesCountNothing",
	"runtime-diagnose/prompt.maxOutput":          "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing/doubling by printf",
	"runtime-diagnose/prompt.maxRounds":          "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing/loops in loops",
	"runtime-diagnose/prompt.maxSource":          "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing",
	"runtime-diagnose/prompt.maxSteps":           "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing/much in each round",
	"runtime-diagnose/prompt.maxWork":            "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing/what nobody sees",
	"runtime-diagnose/prompt.mostPods":           "runtime-diagnose/prompt.TestPodsOfARoleAreToldOneByOne",
	"runtime-diagnose/recovery.mostFields":       "runtime-diagnose/recovery.TestMildLevelBehindFields",
	"runtime-diagnose/redact.mostHits":           "runtime-diagnose/redact.TestMoreGatesThanAreNoted",
	"runtime-diagnose/report.mostTakers":         "runtime-diagnose/report.TestThoseWhoTookNodesAreNamedUpToABound",
	"runtime-diagnose/signature.mostPattern":     "runtime-diagnose/signature.TestValidateNamesWhatIsWrong/one byte more",
	"runtime-diagnose/signature.mostProgram":     "runtime-diagnose/signature.TestValidateNamesWhatIsWrong/one that is not",
	"runtime-diagnose/signature.mostSteps":       "runtime-diagnose/signature.TestShortTextsMatchAsLongOnes",
	"runtime-diagnose/signature.mostTries":       "runtime-diagnose/signature.TestManyPlacesToBegin",
	"runtime-diagnose/timeline.mostLeaders":      "runtime-diagnose/timeline.TestMarkAsksAFewQuestionsForEachMember",
}

// capsOwed are the caps of runtime-diagnose that no test goes one above yet. None is added.
var capsOwed = []string{
	"runtime-diagnose/recovery.rayLevel.most",
	"runtime-diagnose.mostNomineeEvents",
	"runtime-diagnose.mostNomineeLogs",
	"runtime-diagnose.mostOthers",
	"runtime-diagnose.mostReadForWords",
	"runtime-diagnose/attribute.mostCited",
	"runtime-diagnose/attribute.mostTypes",
	"runtime-diagnose/capture.mostTries",
	"runtime-diagnose/capture.mostWait",
	"runtime-diagnose/collect.mostIdle",
	"runtime-diagnose/control.mostNotes",
	"runtime-diagnose/controller.mostSaid",
	"runtime-diagnose/controller.mostSpread",
	"runtime-diagnose/controller.mostStories",
	"runtime-diagnose/keep.mostDropped",
	"runtime-diagnose/keep.mostHeads",
	"runtime-diagnose/learn.mostMatches",
	"runtime-diagnose/learn.nameOf.most",
	"runtime-diagnose/ledger.mostNamed",
	"runtime-diagnose/logscan.mostAhead",
	"runtime-diagnose/logscan.mostApart",
	"runtime-diagnose/logscan.mostHead",
	"runtime-diagnose/logscan.mostMessage",
	"runtime-diagnose/logscan.mostOfBurst",
	"runtime-diagnose/logscan.mostPerLine",
	"runtime-diagnose/logscan.mostPlaces",
	"runtime-diagnose/logscan.mostSaid",
	"runtime-diagnose/logscan.mostTold",
	"runtime-diagnose/notify.mostPause",
	"runtime-diagnose/progress.mostCount",
	"runtime-diagnose/progress.mostSeries",
	"runtime-diagnose/prompt.maxItem",
	"runtime-diagnose/prompt.mostMisfits",
	"runtime-diagnose/redact.mostRounds",
	"runtime-diagnose/reduce.mostPerLine",
	"runtime-diagnose/reduce.mostHeading",
	"runtime-diagnose/reduce.mostLanes",
	"runtime-diagnose/reduce.mostName",
	"runtime-diagnose/reduce.mostOfShape",
	"runtime-diagnose/reduce.mostPrefix",
	"runtime-diagnose/reduce.mostRoom",
	"runtime-diagnose/reduce.mostSentences",
	"runtime-diagnose/reduce.mostTraceLines",
	"runtime-diagnose/report.mostAlso",
	"runtime-diagnose/report.mostBars",
	"runtime-diagnose/report.mostEnds",
	"runtime-diagnose/report.mostFollowers",
	"runtime-diagnose/report.mostGaveWay",
	"runtime-diagnose/report.mostGuesses",
	"runtime-diagnose/report.mostLateTasks",
	"runtime-diagnose/report.mostNamed",
	"runtime-diagnose/report.mostRemarks",
	"runtime-diagnose/report.mostWays",
	"runtime-diagnose/report.mostWhy",
	"runtime-diagnose/signature.mostBegins",
	"runtime-diagnose/signature.mostFactors",
	"runtime-diagnose/signature.mostStrings",
}

func TestEveryCapHasATestOneAboveIt(t *testing.T) {
	found := map[string]bool{}
	for _, below := range []string{"preflight", "policies", "runtime-diagnose"} {
		parseAll(t, below, false, func(folder string, f *ast.File) {
			if folder == "runtime-diagnose/ground" || folder == "runtime-diagnose/explain" {
				return // bounds of what is said about an answer, not of what is read
			}
			for name := range capsIn(f) {
				found[folder+"."+name] = true
			}
		})
	}
	for name := range found {
		if _, ok := caps[name]; !ok && !slices.Contains(capsOwed, name) {
			t.Errorf("%s is a cap without a test one above it; write one, and name it in caps", name)
		}
	}
	for _, name := range capsOwed {
		if _, ok := caps[name]; ok || !found[name] {
			t.Errorf("capsOwed names %s, which has a test, or is no cap", name)
		}
	}
	tests := map[string]map[string]bool{} // by folder: names of tests and all strings
	for _, name := range slices.Sorted(maps.Keys(caps)) {
		if !found[name] {
			t.Errorf("caps names %s, which is none", name)
		}
		if !tested(t, tests, caps[name]) {
			t.Errorf("the test of %s is %q, which does not exist", name, caps[name])
		}
	}
}

// tested says whether a test, or a fixture, is there.
func tested(t *testing.T, tests map[string]map[string]bool, name string) bool {
	if strings.HasSuffix(name, ".txtar") {
		_, err := os.Stat(filepath.Join("../..", name))
		return err == nil
	}
	folder, test, ok := strings.Cut(name, ".")
	if !ok {
		return false
	}
	if tests[folder] == nil {
		tests[folder] = map[string]bool{}
		parseAll(t, folder, true, func(in string, f *ast.File) {
			if in == folder {
				maps.Copy(tests[folder], saidIn(f))
			}
		})
	}
	test, sub, several := strings.Cut(test, "/")
	return tests[folder][test] && (!several || tests[folder][sub])
}

// parseAll reads the Go files below a folder of the project.
func parseAll(t *testing.T, below string, tests bool, use func(folder string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("../..", below), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") != tests {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		use(filepath.ToSlash(folder), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// capsIn are the constants of a file that are named like caps; those of a function with its name before them.
func capsIn(f *ast.File) map[string]bool {
	out := map[string]bool{}
	for _, d := range f.Decls {
		within := ""
		if fn, ok := d.(*ast.FuncDecl); ok {
			within = fn.Name.Name + "."
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if g, ok := n.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, spec := range g.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if capName.MatchString(name.Name) {
							out[within+name.Name] = true
						}
					}
				}
			}
			return true
		})
	}
	return out
}

// saidIn are the names of the functions of a file, and what its strings say.
func saidIn(f *ast.File) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			out[n.Name.Name] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				out[text] = true
			}
		}
		return true
	})
	return out
}
