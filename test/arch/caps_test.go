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

// caps are the constants of the program that bound what is read, tried or kept, each with the test that goes
// one above it: its folder, its name, and the case where it has several. There the answer is unknown and says
// why, an error, or proven to be the same. A path that ends in .txtar is a fixture of a check.
var caps = map[string]string{
	"certs.mostWrites":                                    "certs.TestWhoeverTakesTheSecretBackIsNotAnsweredAllTheTime",
	"cmd/signalbox.mostErrors":                            "cmd/signalbox.TestPromises/policy",
	"cmd/signalbox.mostMentions":                          "cmd/signalbox.TestBoundsOfCommandsAreSaid/places that speak of a word",
	"cmd/signalbox/audit.mostErrorsNamed":                 "cmd/signalbox/audit.TestAsManyJobsAreNamedAsPromised",
	"cmd/signalbox/board.mostKept":                        "cmd/signalbox/board.TestTheBoardKeepsSoManyPages",
	"cmd/signalbox/diagnose.maxEvidence":                  "cmd/signalbox.TestBoundsOfCommandsAreSaid/a file of events",
	"cmd/signalbox/diagnose.mostFields":                   "cmd/signalbox/diagnose.TestAComparisonCountsWhatItHasNoRoomFor",
	"cmd/signalbox/diagnose.mostNamed":                    "cmd/signalbox.TestBoundsOfCommandsAreSaid/jobs that are named",
	"cmd/signalbox/diagnose.mostNewLines":                 "cmd/signalbox/diagnose.TestWhatAComparisonDoesNotShowIsCounted",
	"cmd/signalbox/diagnose.mostSettings":                 "cmd/signalbox/diagnose.TestSettingsAreBounded",
	"cmd/signalbox/diagnose.mostTold":                     "cmd/signalbox.TestBoundsOfCommandsAreSaid/jobs that are told",
	"cmd/signalbox/doctor.firstNames.most":                "cmd/signalbox/doctor.TestNamespacesAreNamedOrCounted",
	"cmd/signalbox/doctor.mostSkew":                       "cmd/signalbox/doctor.TestClocksMayBeAMinuteApart",
	"cmd/signalbox/doctor.mostTried":                      "cmd/signalbox/doctor.TestANamespaceIsLookedForAmongSoMany",
	"cmd/signalbox/fit.boundOf.mostSeconds":               "cmd/signalbox/fit.TestADeadlineThatIsForEverIsNone",
	"cmd/signalbox/get.mostWords":                         "cmd/signalbox/get.TestAWaitIsToldInFewWords",
	"cmd/signalbox/internal/apiserver.mostAnnotation":     "cmd/signalbox/internal/apiserver.TestLongAnnotationsOfANamespaceAreNotKept",
	"cmd/signalbox/internal/apiserver.mostAnswer":         "cmd/signalbox/internal/apiserver.TestAnAnswerMayBeSoLong",
	"cmd/signalbox/internal/apiserver.mostCompleted":      "cmd/signalbox/internal/apiserver.TestANameIsLookedForAmongSoMany",
	"cmd/signalbox/internal/apiserver.mostHeld":           "cmd/signalbox/internal/apiserver.TestAListGoesOnWhileItsObjectsTakeSoMuch",
	"cmd/signalbox/internal/apiserver.mostOwners":         "cmd/signalbox/internal/apiserver.TestOwnersOfAPodAreFollowedUpToABound",
	"cmd/signalbox/internal/apiserver.mostPages":          "cmd/signalbox/internal/apiserver.TestPagesWithoutEndAreBounded/a page more than there may be",
	"cmd/signalbox/internal/apiserver.mostRefusal":        "cmd/signalbox/internal/apiserver.TestARefusalIsBounded",
	"cmd/signalbox/internal/browser.MostJobsShown":        "cmd/signalbox/get.TestAListForABrowserShowsSoManyJobsAndSaysHowManyMore",
	"cmd/signalbox/internal/browser.MostRowsShown":        "cmd/signalbox.TestBoundsOfCommandsAreSaid/rows of a pool",
	"cmd/signalbox/internal/fix.mostFixTries":             "cmd/signalbox/internal/fix.TestNoMoreChangesAreTriedThanTheBound",
	"cmd/signalbox/internal/input.maxFetched":             "cmd/signalbox.TestBoundsOfCommandsAreSaid/what an address sends",
	"cmd/signalbox/internal/input.maxQuoted":              "cmd/signalbox/internal/input.TestLinesOfALongFileAreNotQuoted",
	"cmd/signalbox/internal/input.mostTemplate":           "cmd/signalbox/internal/input.TestTheKindOfATemplateIsLookedForUpToABound",
	"cmd/signalbox/internal/reference.mostFirstSteps":     "cmd/signalbox/internal/reference.TestFirstStepsOfACategoryAreNamedOrCounted",
	"cmd/signalbox/internal/reference.mostLinesExplained": "cmd/signalbox.TestLinesOfStandardInputHaveABound",
	"cmd/signalbox/internal/reference.mostNamesListed":    "cmd/signalbox/internal/reference.TestNamesWithAWordAreListedOrCounted",
	"cmd/signalbox/internal/render.mostAssumed":           "cmd/signalbox/internal/render.TestWhatWasTakenForGivenIsToldOrCounted",
	"cmd/signalbox/internal/review.mostAsked":             "cmd/signalbox.TestAsManyObjectsAreAskedForAsPromised",
	"cmd/signalbox/internal/review.mostAskedJobs":         "cmd/signalbox.TestAsManyJobsAreAskedAboutAsPromised",
	"cmd/signalbox/internal/setting.mostVariants":         "cmd/signalbox.TestBoundsOfCommandsAreSaid/variants of a question",
	"cmd/signalbox/internal/shell.MostOfFolder":           "cmd/signalbox.TestAFolderOfPoliciesHoldsFiles/a large file",
	"cmd/signalbox/internal/terminal.Few.most":            "cmd/signalbox/internal/terminal.TestFewNamesAreToldAndTheOthersCounted",
	"cmd/signalbox/internal/terminal.MostNames":           "cmd/signalbox/internal/render.TestChecksThatDidNotRunAreNamedOrCounted",
	"cmd/signalbox/mcp.mostAnswered":                      "cmd/signalbox/mcp.TestAnAnswerOfAToolIsBounded",
	"cmd/signalbox/policy.mostRounds":                     "cmd/signalbox.TestBoundsOfCommandsAreSaid/rounds of a measurement",
	"cmd/signalbox/serve.mostGC":                          "cmd/signalbox/serve.TestAHeapGrowsByTheSameHoweverLargeItIs",
	"cmd/signalbox/serve.mostLabels":                      "cmd/signalbox/serve.TestMetricsOfManyLabelsAreAnError",
	"cmd/signalbox/serve.mostWait":                        "cmd/signalbox/serve.TestWhatEndsAtOnceIsStartedAgainAfterHalfAMinuteAtMost",

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
	"policies.mostSteps":         "policies.TestOneCallCannotTakeForEver/trim",
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

	"runtime-diagnose.mostNomineeEvents":         "runtime-diagnose.TestWhatIsNotTestedAsTheCauseIsCounted/one event more",
	"runtime-diagnose.mostNomineeLogs":           "runtime-diagnose.TestWhatIsNotTestedAsTheCauseIsCounted/one log more",
	"runtime-diagnose.mostOthers":                "runtime-diagnose.TestWithHowManyOthersAMemberIsComparedIsSaid",
	"runtime-diagnose.mostReadForWords":          "runtime-diagnose.TestLogsThatAreReadAgainForTheirWordsAreCounted",
	"runtime-diagnose/attribute.mostCited":       "runtime-diagnose/attribute.TestWhatAFeatureRestsOnIsCountedBeyondABound",
	"runtime-diagnose/attribute.mostTypes":       "runtime-diagnose/attribute.TestTypesOfExceptions",
	"runtime-diagnose/bare.mostContainers":       "runtime-diagnose/bare.TestContainers/one more is the log of one",
	"runtime-diagnose/capture.mostTries":         "runtime-diagnose/capture.TestAWriteThatFailsIsTriedAgain",
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
	"runtime-diagnose/collect.mostIdle":          "runtime-diagnose/collect.TestAnArchiveIsHeldOpenAFewTimes",
	"runtime-diagnose/collect.mostJobPages":      "runtime-diagnose/collect.TestPagesOfJobsAreBounded",
	"runtime-diagnose/collect.mostNumbered":      "runtime-diagnose/collect.TestNumbersOfLinesThatDoNotFitTheLog/one line too many to be numbered",
	"runtime-diagnose/collect.mostOperators":     "runtime-diagnose/collect.TestTheOperatorOfASilentJob",
	"runtime-diagnose/collect.mostQueues":        "runtime-diagnose/collect.TestQueuesOfOneNameAreBounded",
	"runtime-diagnose/collect.mostShared":        "runtime-diagnose/collect.TestJobsThatFailTogetherAskOnce",
	"runtime-diagnose/collect.mostTaintRules":    "runtime-diagnose/collect.TestTaintRulesForTheDevicesOfTheJobAreRead/more than are read",
	"runtime-diagnose/control.mostLeft":          "runtime-diagnose.TestFinalizersThatHoldAJob/one more",
	"runtime-diagnose/control.mostNotes":         "runtime-diagnose/control.TestNotesAreBoundedAndCounted",
	"runtime-diagnose/controller.maxNote":        "runtime-diagnose/controller.TestAnEventEndsInItsRunbook",
	"runtime-diagnose/controller.mostAsked":      "runtime-diagnose/controller.TestOneNamespaceHasOneQuestionAndAllHaveEight",
	"runtime-diagnose/controller.mostAskedPods":  "runtime-diagnose/controller.TestTheTokenGoesAlong",
	"runtime-diagnose/controller.mostNamed":      "runtime-diagnose/controller.TestOnlySoManyPodsAreNamed",
	"runtime-diagnose/controller.mostSaid":       "runtime-diagnose/controller.TestALongWarningShowsThatItIsCut",
	"runtime-diagnose/controller.mostSpread":     "runtime-diagnose/controller.TestAFailureThatSpreadsIsNotLeftToItselfForLong",
	"runtime-diagnose/controller.mostStories":    "runtime-diagnose/controller.TestFindingsThatAModelWasAskedAboutAreBounded",
	"runtime-diagnose/controller.mostUsage":      "runtime-diagnose/controller.TestAHostilePrometheusIsBounded/a byte more",
	"runtime-diagnose/controller.mostWarnings":   "runtime-diagnose/controller.TestWhatIsRememberedIsBounded",
	"runtime-diagnose/explain.MostKept":          "runtime-diagnose/explain.TestWhatIsKeptIsBounded",
	"runtime-diagnose/explain.modelName.most":    "runtime-diagnose/explain.TestNamesThatAModelWritesShowThatTheyAreCut",
	"runtime-diagnose/explain.mostAnswers":       "runtime-diagnose/explain.TestAnswersAreBounded",
	"runtime-diagnose/explain.mostForms":         "runtime-diagnose/explain.TestThreeLinesTellUnknownFailuresApart",
	"runtime-diagnose/explain.mostNamespaces":    "runtime-diagnose/explain.TestManyNamespacesStayBounded",
	"runtime-diagnose/explain.mostRead":          "runtime-diagnose/explain.TestAnswersThatWouldFillTheMemoryAreRefused",
	"runtime-diagnose/explain.oneLine.most":      "runtime-diagnose/explain.TestNamesThatAModelWritesShowThatTheyAreCut",
	"runtime-diagnose/familiar.Most":             "runtime-diagnose/familiar.TestWhatCannotBeToldIsNotNew",
	"runtime-diagnose/ground.MaxText":            "runtime-diagnose/ground.TestLongAnswersAreCutBetweenSentences",
	"runtime-diagnose/ground.MaxUnsupported":     "runtime-diagnose/ground.TestWhatStandsApartIsBounded",
	"runtime-diagnose/ground.mostCode":           "runtime-diagnose/ground.TestBoundsOfWhatIsCompared/words that are put together as code",
	"runtime-diagnose/ground.mostCopied":         "runtime-diagnose/ground.TestBoundsOfWhatIsCompared/words in a row that are no copy yet",
	"runtime-diagnose/ground.mostDenied":         "runtime-diagnose/ground.TestBoundsOfWhatIsCompared/words behind a denial",
	"runtime-diagnose/ground.mostDerived":        "runtime-diagnose/ground.TestBoundsOfWhatIsCompared/numbers of which others are derived",
	"runtime-diagnose/ground.mostEdits":          "runtime-diagnose/ground.TestEditsOfClaimsAreBounded",
	"runtime-diagnose/ground.mostFigures":        "runtime-diagnose/ground.TestBoundsOfWhatIsCompared/amounts of which shares are made",
	"runtime-diagnose/ground.mostListed":         "runtime-diagnose/ground.TestBoundsOfWhatIsCompared/members of a range",
	"runtime-diagnose/ground.mostQuoted":         "runtime-diagnose/ground.TestBoundsOfWhatIsCompared/words quoted of a consequence",
	"runtime-diagnose/ground.mostRoots":          "runtime-diagnose/ground.TestBoundsOfWhatIsCompared/lines of the cause a time is counted to",
	"runtime-diagnose/ground.mostSentences":      "runtime-diagnose/ground.TestSentencesOfAnAnswerAreBounded",
	"runtime-diagnose/keep.mostFile":             "runtime-diagnose/keep.TestAForeignFormIsRefused/a log above the bound",
	"runtime-diagnose/keep.mostFiles":            "runtime-diagnose/keep.TestAForeignFormIsRefused/a file too many",
	"runtime-diagnose/keep.mostHeads":            "runtime-diagnose/keep.TestHeadsOfTracebacksAreRememberedUpToABound",
	"runtime-diagnose/keep.mostHits":             "runtime-diagnose/keep.TestTheLatestOfManyAreKept",
	"runtime-diagnose/keep.mostIndex":            "runtime-diagnose/keep.TestAForeignFormIsRefused/an index above the bound",
	"runtime-diagnose/keep.mostLast":             "runtime-diagnose/keep.TestTheLatestOfManyAreKept",
	"runtime-diagnose/keep.mostLines":            "runtime-diagnose/keep.TestAForeignFormIsRefused/a number above the bound",
	"runtime-diagnose/keep.mostPerSign":          "runtime-diagnose/keep.TestTheLatestOfManyAreKept",
	"runtime-diagnose/keep.mostTotal":            "runtime-diagnose/keep.TestAForeignFormIsRefused/together above the bound",
	"runtime-diagnose/lazy.mostRecent":           "runtime-diagnose/lazy.TestRecentTextsAreBounded",
	"runtime-diagnose/lazy.mostRequired":         "runtime-diagnose/lazy.TestRequired",
	"runtime-diagnose/learn.mostMatches":         "runtime-diagnose/learn.TestADraftOfManyLines",
	"runtime-diagnose/learn.nameOf.most":         "runtime-diagnose/learn.TestADraftOfManyLines",
	"runtime-diagnose/ledger.Most":               "runtime-diagnose/ledger.TestALedgerIsBounded",
	"runtime-diagnose/ledger.mostNamed":          "runtime-diagnose/ledger.TestAttemptsThatThePlatformEndedAreCounted",
	"runtime-diagnose/ledger.mostTallies":        "runtime-diagnose/ledger.TestALedgerIsBounded",
	"runtime-diagnose/llm.MaxText":               "runtime-diagnose/llm.TestAnswersAreBounded/a byte more",
	"runtime-diagnose/llm.maxBody":               "runtime-diagnose/llm.TestAnswersAreBounded/more than a body may be",
	"runtime-diagnose/llm.mostAfter":             "runtime-diagnose/llm.TestAServerMayAskForADay",
	"runtime-diagnose/logscan.mostAhead":         "runtime-diagnose/logscan.TestLogsThatWaitForAnEarlierOneAreBounded",
	"runtime-diagnose/logscan.mostApart":         "runtime-diagnose/logscan.TestMoreLogsThanAreKeptApartAreSummedUp",
	"runtime-diagnose/logscan.mostCalls":         "runtime-diagnose.TestTheRankThatIsBehindIsFoundAmongMany/more than are compared",
	"runtime-diagnose/logscan.mostElastic":       "runtime-diagnose.TestTheLastOfManyAgentsNamesTheRank",
	"runtime-diagnose/logscan.mostHead":          "runtime-diagnose.TestARecordWhoseMessageGoesOnHoldsItsTraceback/a record that says it one byte further on",
	"runtime-diagnose/logscan.mostJudged":        "runtime-diagnose/logscan.TestJudgedTextsAreBounded",
	"runtime-diagnose/logscan.mostLaunches":      "runtime-diagnose.TestTheLastOfManyLaunchesCounts",
	"runtime-diagnose/logscan.mostLineInResults": "runtime-diagnose/logscan.TestWhatIsKeptOfAllLogsIsBounded",
	"runtime-diagnose/logscan.mostLost":          "runtime-diagnose/logscan.TestLostLogsAreNamedOrCounted",
	"runtime-diagnose/logscan.mostMessage":       "runtime-diagnose.TestARecordWhoseMessageGoesOnHoldsItsTraceback/a message of four lines more",
	"runtime-diagnose/logscan.mostOfBurst":       "runtime-diagnose/logscan.TestALongBurstIsNotLookedAtWhole",
	"runtime-diagnose/logscan.mostPerSignature":  "runtime-diagnose/logscan.TestTheLastSightingIsKept",
	"runtime-diagnose/logscan.mostPlaces":        "runtime-diagnose.TestAMessageSpeaksThroughThePlaceInNativeCodeThatItComesFrom/one place too many",
	"runtime-diagnose/logscan.mostSaid":          "runtime-diagnose.TestARecordWhoseMessageGoesOnHoldsItsTraceback/a record that says one byte less",
	"runtime-diagnose/logscan.mostSightings":     "runtime-diagnose/logscan.TestAFullLogHasRoomForItsEnd",
	"runtime-diagnose/logscan.mostTold":          "runtime-diagnose/logscan.TestASummaryHasThreeSightings",
	"runtime-diagnose/notify.mostAttempts":       "runtime-diagnose/notify.TestWhatFailsIsTriedAgain",
	"runtime-diagnose/notify.mostBody":           "runtime-diagnose/notify.TestWhatCannotBeIsRefused/a template without an end",
	"runtime-diagnose/notify.mostKnown":          "runtime-diagnose/notify.TestWhatIsRememberedIsBounded",
	"runtime-diagnose/notify.mostLine":           "runtime-diagnose/notify.TestALongFailureShowsThatItIsCut",
	"runtime-diagnose/notify.mostPause":          "runtime-diagnose/notify.TestAReceiverMayAskForAPause",
	"runtime-diagnose/notify.mostQueued":         "runtime-diagnose/notify.TestAReceiverThatHangsIsBounded",
	"runtime-diagnose/notify.mostText":           "runtime-diagnose/notify.TestALongFailureShowsThatItIsCut",
	"runtime-diagnose/progress.bar.most":         "runtime-diagnose/progress.TestOtherLinesCountNothing",
	"runtime-diagnose/progress.mostCount":        "runtime-diagnose/progress.TestCountersFindProgressInUnknownWords/larger by one",
	"runtime-diagnose/progress.mostSeries":       "runtime-diagnose/progress.TestCountersFindProgressInUnknownWords/one shape more",
	"runtime-diagnose/prompt.maxItem":            "runtime-diagnose/prompt.TestALongPieceIsCutInItsMiddle",
	"runtime-diagnose/prompt.maxOutput":          "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing/doubling by printf",
	"runtime-diagnose/prompt.maxRounds":          "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing/loops in loops",
	"runtime-diagnose/prompt.maxSource":          "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing",
	"runtime-diagnose/prompt.maxSteps":           "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing/much in each round",
	"runtime-diagnose/prompt.maxWork":            "runtime-diagnose/prompt.TestTemplatesEndAndReachNothing/what nobody sees",
	"runtime-diagnose/prompt.mostMisfits":        "runtime-diagnose/prompt.TestPiecesThatDoNotFitAreTriedUpToABoundAndCounted",
	"runtime-diagnose/prompt.mostPods":           "runtime-diagnose/prompt.TestPodsOfARoleAreToldOneByOne",
	"runtime-diagnose/recovery.mostFields":       "runtime-diagnose/recovery.TestMildLevelBehindFields",
	"runtime-diagnose/recovery.mostHead":         "runtime-diagnose/recovery.TestALevelIsLookedForAtTheHeadOfALine",
	"runtime-diagnose/redact.mostHits":           "runtime-diagnose/redact.TestMoreGatesThanAreNoted",
	"runtime-diagnose/reduce.mostLanes":          "runtime-diagnose/reduce.TestTracebacksThatAreNotFollowedAreCounted",
	"runtime-diagnose/reduce.mostOfShape":        "runtime-diagnose/reduce.TestASentenceWithOtherNumbersCountsEightTimes",
	"runtime-diagnose/reduce.mostPerLine":        "runtime-diagnose/reduce.TestOneLineIsTakenApartForSoManyRanks",
	"runtime-diagnose/reduce.mostPrefix":         "runtime-diagnose/reduce.TestBoundsOfATraceback/one byte longer",
	"runtime-diagnose/reduce.mostRoom":           "runtime-diagnose/reduce.TestLinesOfOneRoomDoNotOverwriteEachOther",
	"runtime-diagnose/reduce.mostSentences":      "runtime-diagnose/reduce.TestSentencesThatAreToldApartAreBounded",
	"runtime-diagnose/reduce.mostTraceLines":     "runtime-diagnose/reduce.TestBoundsOfATraceback/one line more",
	"runtime-diagnose/report.mostAlso":           "runtime-diagnose/report.TestThoseWhoSayTheSameAreCounted",
	"runtime-diagnose/report.mostBars":           "runtime-diagnose/report.TestWhatIsNotShownIsCounted/rows of the picture",
	"runtime-diagnose/report.mostEnds":           "runtime-diagnose/report.TestWhatIsNotToldIsCounted/ends of logs",
	"runtime-diagnose/report.mostFollowers":      "runtime-diagnose/report.TestWhatIsNotShownIsCounted/ways in which others ended",
	"runtime-diagnose/report.mostGaveWay":        "runtime-diagnose/report.TestPodsThatGaveWayAreCounted",
	"runtime-diagnose/report.mostGuesses":        "runtime-diagnose/report.TestWhatIsNotToldIsCounted/candidates that may be it",
	"runtime-diagnose/report.mostKinds":          "runtime-diagnose/report.TestKindsOfEndsAreToldOrCounted",
	"runtime-diagnose/report.mostLateTasks":      "runtime-diagnose/report.TestTasksThatDidNotComeAreNamedUpToABound",
	"runtime-diagnose/report.mostNamed":          "runtime-diagnose/report.TestFollowersInJSONAreNamedUpToABound",
	"runtime-diagnose/report.mostNodes":          "runtime-diagnose/report.TestWhatIsNotToldIsCounted/nodes alone",
	"runtime-diagnose/report.mostRemarks":        "runtime-diagnose/report.TestWhatIsNotToldIsCounted/remarks",
	"runtime-diagnose/report.mostTakers":         "runtime-diagnose/report.TestThoseWhoTookNodesAreNamedUpToABound",
	"runtime-diagnose/report.mostWays":           "runtime-diagnose/report.TestWhatIsNotToldIsCounted/ways to end",
	"runtime-diagnose/report.mostWhy":            "runtime-diagnose/report.TestWhatIsNotShownIsCounted/candidates with their points",
	"runtime-diagnose/signature.mostBegins":      "runtime-diagnose/signature.TestPatternsOfManyAlternativesMatchTheSame/texts to begin with",
	"runtime-diagnose/signature.mostFactors":     "runtime-diagnose/signature.TestPatternsOfManyAlternativesMatchTheSame/texts to look for",
	"runtime-diagnose/signature.mostPattern":     "runtime-diagnose/signature.TestValidateNamesWhatIsWrong/one byte more",
	"runtime-diagnose/signature.mostProgram":     "runtime-diagnose/signature.TestValidateNamesWhatIsWrong/one that is not",
	"runtime-diagnose/signature.mostSteps":       "runtime-diagnose/signature.TestShortTextsMatchAsLongOnes",
	"runtime-diagnose/signature.mostStrings":     "runtime-diagnose/signature.TestPatternsOfManyAlternativesMatchTheSame/strings of one part",
	"runtime-diagnose/signature.mostTries":       "runtime-diagnose/signature.TestManyPlacesToBegin",
	"runtime-diagnose/timeline.mostLeaders":      "runtime-diagnose/timeline.TestMarkAsksAFewQuestionsForEachMember",
	"config.maxBytes":                            "config.TestRead/a file of one byte more",
	"config.mostEvidence":                        "config.TestRead/evidence of one byte more",
	"config.mostLanguage":                        "config.TestRead/a language too long",
	"config/backoff.mostPause":                   "config/backoff.TestWhatIsTakenAwayIsWrittenLessAndLess",
	"config/labelled.mostBytes":                  "config/labelled.TestAnErrorIsCutAtItsBound",
	"config/labelled.mostSet":                    "config/labelled.TestASetIsBounded",
	"config/mounted.mostFile":                    "config/mounted.TestWhatIsMountedIsAFile",
	"config/tracing.mostBatch":                   "config/tracing.TestSpansThatWaitAreBounded",
	"config/tracing.mostQueued":                  "config/tracing.TestSpansThatWaitAreBounded",
	"webhook.mostArriving":                       "webhook.TestBodiesInFlightAreBounded",
	"webhook.mostBody":                           "webhook.TestBodiesThatAreTooLarge/one byte more",
	"webhook.mostConnections":                    "webhook.TestSilentConnectionsAreBounded",
	"webhook.mostGivenWay":                       "webhook.TestTheRestGivesWayToReviews/a review never ends",
	"webhook.mostHeads":                          "webhook.TestHeadsWithoutEndAreBounded",
	"webhook.mostInFlight":                       "webhook.TestBodiesInFlightAreBounded",
	"webhook.mostLate":                           "webhook.TestALateReviewThatDoesNotEndHoldsUpNoOther",
	"webhook.mostLost":                           "webhook.TestNamespacesThatComeAndGoAreForgotten",
	"webhook.mostNamed":                          "webhook.TestChecksThatFailForOneReasonAreNamedUpToABound",
	"webhook.mostOfARecord":                      "webhook.TestARecordUnfoldsToSoMuch",
	"webhook.mostPublished":                      "webhook.TestReviewedIsBounded",
	"webhook.mostRemembered":                     "webhook.TestReviewedIsBounded",
	"webhook.mostRights":                         "webhook.TestRightsAreAskedSeldomAndBounded",
	"webhook.mostRuns":                           "webhook.TestRunsAreBounded",
	"webhook.mostRunsOf":                         "webhook.TestRunsAreBounded",
	"webhook.mostSaid":                           "webhook.TestOfReviewsTheNewestAreFound",
	"webhook.mostSaidText":                       "webhook.TestReviewedIsBounded",
	"webhook.mostSeries":                         "webhook.TestRunsAreBounded",
	"webhook.mostTextRoom":                       "webhook.TestAStateIsThatOfTheJSON/more than the room for texts",
	"webhook.mostTries":                          "webhook.TestALateReviewIsTriedSoOften",
	"webhook.mostValues":                         "webhook.TestValuesInFlightAreBounded/more than there may be at all",
}

func TestEveryCapHasATestOneAboveIt(t *testing.T) {
	found := map[string]bool{}
	for _, below := range []string{"certs", "cmd", "config", "policies", "preflight", "runtime-diagnose", "webhook"} {
		parseAll(t, below, false, func(folder string, f *ast.File) {
			for name := range capsIn(f) {
				found[folder+"."+name] = true
			}
		})
	}
	for name := range found {
		if _, ok := caps[name]; !ok {
			t.Errorf("%s is a cap without a test one above it; write one, and name it in caps", name)
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
