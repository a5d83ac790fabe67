// Entries on disk: found again, never trusted when damaged, bounded, shared by processes.
#include "tenon/jit/object/object_cache.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/tests/testing/scratch_folder.h"

namespace tenon::jit {
namespace {

namespace fs = std::filesystem;
using ::testing::Optional;
using ::testing::SizeIs;

constexpr std::int64_t kPlenty = 1 << 20;

std::string Key(char digit) { return std::string(64, digit); }

TEST(ObjectCacheTest, GivesBackWhatWasStored) {
  const ScratchFolder folder;
  const ObjectCache cache(folder.path(), kPlenty);
  EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
  const std::string object(
      "\0\x7f"
      "ELF\xff\n",
      7);
  cache.Store(Key('a'), object);
  EXPECT_THAT(cache.Load(Key('a')), Optional(object));
  EXPECT_EQ(cache.Load(Key('b')), std::nullopt);
  EXPECT_THAT(folder.files(), SizeIs(1));
}

TEST(ObjectCacheTest, StoringAgainReplaces) {
  const ScratchFolder folder;
  const ObjectCache cache(folder.path(), kPlenty);
  cache.Store(Key('a'), "old");
  cache.Store(Key('a'), "new");
  EXPECT_THAT(cache.Load(Key('a')), Optional(std::string("new")));
  EXPECT_THAT(folder.files(), SizeIs(1));
}

TEST(ObjectCacheTest, ATruncatedEntryIsRemovedAndNotGiven) {
  const ScratchFolder folder;
  const ObjectCache cache(folder.path(), kPlenty);
  cache.Store(Key('a'), "object");
  const fs::path entry = folder.files().at(0);
  const std::string whole = ReadBytes(entry);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    WriteBytes(entry, whole.substr(0, size));
    EXPECT_EQ(cache.Load(Key('a')), std::nullopt) << size;
    EXPECT_FALSE(fs::exists(entry)) << size;
  }
  WriteBytes(entry, whole + "x");
  EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
  WriteBytes(entry, whole);
  EXPECT_THAT(cache.Load(Key('a')), Optional(std::string("object")));
}

TEST(ObjectCacheTest, AnEntryWithAFlippedBitIsRemovedAndNotGiven) {
  const ScratchFolder folder;
  const ObjectCache cache(folder.path(), kPlenty);
  cache.Store(Key('a'), "object");
  const fs::path entry = folder.files().at(0);
  const std::string whole = ReadBytes(entry);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    WriteBytes(entry, flipped);
    EXPECT_EQ(cache.Load(Key('a')), std::nullopt) << bit;
    EXPECT_FALSE(fs::exists(entry)) << bit;
  }
}

TEST(ObjectCacheTest, AnEntryUnderTheNameOfAnotherIsNotGiven) {
  const ScratchFolder folder;
  const ObjectCache cache(folder.path(), kPlenty);
  cache.Store(Key('a'), "object");
  const fs::path entry = folder.files().at(0);
  std::string other = entry.filename();
  other.replace(0, 64, Key('b'));
  fs::rename(entry, entry.parent_path() / other);
  EXPECT_EQ(cache.Load(Key('b')), std::nullopt);
}

TEST(ObjectCacheTest, TheOldestEntriesGoUntilTheRestFits) {
  const ScratchFolder folder;
  const std::string object(1000, 'x');
  const ObjectCache cache(folder.path(), 3500);
  for (const char digit : {'a', 'b', 'c', 'd'}) cache.Store(Key(digit), object);
  // Ages an hour apart, as the clock of a file system may be coarse.
  for (const fs::path& entry : folder.files()) {
    const int age = 'z' - entry.filename().string()[0];
    fs::last_write_time(entry, fs::file_time_type::clock::now() - std::chrono::hours(age));
  }
  WriteBytes(folder.path() / "not-ours", std::string(100000, 'x'));
  ASSERT_TRUE(cache.Load(Key('a')).has_value());  // now the youngest
  cache.Trim();
  EXPECT_TRUE(cache.Load(Key('a')).has_value());
  EXPECT_FALSE(cache.Load(Key('b')).has_value());
  EXPECT_TRUE(cache.Load(Key('c')).has_value());
  EXPECT_TRUE(cache.Load(Key('d')).has_value());
  EXPECT_TRUE(fs::exists(folder.path() / "not-ours"));
}

// A trim looks at all entries, which takes long where there are thousands.
TEST(ObjectCacheTest, ATrimIsDueOnceASixteenthOfTheMostIsStored) {
  const ScratchFolder folder;
  constexpr std::int64_t kMax = 16 * 10 * 4096;
  const fs::path old = folder.path() / ".tenon-unfinished-abcdef";
  const auto trims = [&](std::int64_t stored) {
    WriteBytes(old, "x");
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    ObjectCache(folder.path(), kMax).TrimAfter(stored);  // as another process would
    return !fs::exists(old);
  };
  EXPECT_TRUE(trims(1)) << "nobody knows how much the folder has";
  EXPECT_FALSE(trims(1));
  EXPECT_FALSE(trims(8 * 4096));
  EXPECT_TRUE(trims(1));
  EXPECT_FALSE(trims(9 * 4096));
  EXPECT_TRUE(trims(std::int64_t{1} << 40));
  EXPECT_FALSE(trims(1));
}

TEST(ObjectCacheTest, TrimRemovesWhatAnInterruptedWriterLeftLongAgo) {
  const ScratchFolder folder;
  const fs::path old = folder.path() / ".tenon-unfinished-abcdef";
  const fs::path fresh = folder.path() / ".tenon-unfinished-ghijkl";
  WriteBytes(old, "x");
  WriteBytes(fresh, "x");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  ObjectCache(folder.path(), kPlenty).Trim();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST(ObjectCacheTest, MakesAMissingFolderForItsOwnerAlone) {
  const ScratchFolder folder;
  const fs::path inner = folder.path() / "not" / "yet";
  const ObjectCache cache(inner, kPlenty);
  EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
  cache.Store(Key('a'), "object");
  EXPECT_THAT(cache.Load(Key('a')), Optional(std::string("object")));
  EXPECT_EQ(fs::status(inner).permissions(), fs::perms::owner_all);
}

TEST(ObjectCacheTest, AFolderThatCannotBeMadeIsAnEmptyCache) {
  const ScratchFolder folder;
  WriteBytes(folder.path() / "file", "x");
  const ObjectCache cache(folder.path() / "file" / "folder", kPlenty);
  cache.Store(Key('a'), "object");
  EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
  cache.Trim();
  EXPECT_EQ(ReadBytes(folder.path() / "file"), "x");
}

TEST(ObjectCacheTest, WithoutAFolderItHoldsNothing) {
  const ObjectCache cache("", kPlenty);
  cache.Store(Key('a'), "object");
  EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
  cache.Trim();
}

// Each child writes, reads and trims the same few entries as the other; what it reads must be
// whole.
TEST(ObjectCacheTest, TwoProcessesAtOnceSeeWholeEntriesOnly) {
  const ScratchFolder folder;
  const auto object = [](char digit, int length) { return std::string(length, digit); };
  const auto work = [&] {
    const ObjectCache cache(folder.path(), 20000);
    int wrong = 0, read = 0;
    for (int round = 0; round < 500; ++round) {
      const char digit = "abcdef"[round % 6];
      cache.Store(Key(digit), object(digit, 5000));
      const auto loaded = cache.Load(Key("abcdef"[(round + 3) % 6]));
      if (loaded.has_value()) ++read;
      if (loaded.has_value() && *loaded != object("abcdef"[(round + 3) % 6], 5000)) ++wrong;
      if (round % 10 == 0) cache.Trim();
    }
    return wrong == 0 && read > 0 ? 0 : 1;
  };
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(work());
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (const fs::path& file : folder.files())
    EXPECT_THAT(file.filename().string(), ::testing::EndsWith(".tenon-object"));
}

TEST(ObjectCacheTest, AFolderThatOthersMayWriteIsNotUsed) {
  const ScratchFolder folder;
  const ObjectCache cache(folder.path(), kPlenty);
  cache.Store(Key('a'), "object");
  EXPECT_EQ(cache.Refusal(), "");
  for (const fs::perms shared : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(folder.path(), shared, fs::perm_options::add);
    EXPECT_NE(cache.Refusal(), "");
    EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
    cache.Store(Key('b'), "object");
    EXPECT_THAT(folder.files(), SizeIs(1));
    fs::permissions(folder.path(), shared, fs::perm_options::remove);
  }
  EXPECT_THAT(cache.Load(Key('a')), Optional(std::string("object")));
}

TEST(ObjectCacheTest, AnEntryThatIsALinkOrAPipeOrOfOthersIsNotGiven) {
  const ScratchFolder folder;
  const ObjectCache cache(folder.path(), kPlenty);
  cache.Store(Key('a'), "object");
  const fs::path entry = folder.files().at(0);
  const fs::path moved = folder.path() / "moved";
  fs::rename(entry, moved);
  fs::create_symlink(moved, entry);
  EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
  fs::remove(entry);
  ASSERT_EQ(mkfifo(entry.c_str(), 0600), 0);
  EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
  fs::remove(entry);
  fs::rename(moved, entry);
  EXPECT_THAT(cache.Load(Key('a')), Optional(std::string("object")));
  fs::permissions(entry, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(cache.Load(Key('a')), std::nullopt);
}

}  // namespace
}  // namespace tenon::jit
